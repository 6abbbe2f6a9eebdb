"""`seamline ingest checkpoints`: sweeps, checkpoints, manifests, the Hub. The reader is sweeps.py."""

from ingest.kind import Kind, Option

CHECKPOINTS = Kind(
    name="checkpoints",
    help="Checkpoints: their files' times, archive logs, end-of-turn ids, submissions.",
    known_by="`<cell>/checkpoints/<family>/<step>/`; folders with weights or a model's `config.json`; "
    "CSV or JSON with `model_id`, `cell` and `hour_source`",
    domains=("checkpoints",),
    reader_version=1,
    tables=(
        "checkpoint_cells",
        "checkpoint_folders",
        "checkpoint_files",
        "checkpoint_configs",
        "checkpoint_archives",
        "published_checkpoints",
        "hub_companions",
    ),
    reader="ingest.checkpoints.sweeps:ingest_checkpoints",
    finds_places="ingest.checkpoints.places:find",
    is_part="ingest.checkpoints.places:is_part",
    argument_help="A sweep, one checkpoint folder, a manifest, or hf:ORG[/REPO].",
    options=(Option("--org", str, "Organisation of the model ids (default: the sweep folder's name)."),),
)
