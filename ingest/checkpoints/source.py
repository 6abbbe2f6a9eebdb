"""`seamline ingest checkpoints`: sweeps, checkpoints, manifests, the Hub. The reader is sweeps.py."""

from ingest.kind import Kind, Option

CHECKPOINTS = Kind(
    name="checkpoints",
    help="Checkpoints: their files' times, archive logs, end-of-turn ids, tensors, submissions.",
    known_by="`<cell>/checkpoints/<family>/<step>/`; folders with weights, an adapter or a model's `config.json`; "
    "CSV or JSON with `model_id`, `cell` and `hour_source`; Tinker's `checkpoints.jsonl`",
    domains=("checkpoints",),
    reader_version=2,
    tables=(
        "checkpoint_cells",
        "checkpoint_folders",
        "checkpoint_files",
        "checkpoint_configs",
        "checkpoint_states",
        "checkpoint_tensors",
        "checkpoint_archives",
        "published_checkpoints",
        "hub_companions",
        "companion_entries",
    ),
    reader="ingest.checkpoints.sweeps:ingest_checkpoints",
    finds_places="ingest.checkpoints.places:find",
    is_part="ingest.checkpoints.places:is_part",
    is_given_roots=True,
    argument_help="A sweep, one checkpoint folder, a manifest, or hf:ORG[/REPO].",
    options=(Option("--org", str, "Organisation of the model ids (default: the sweep folder's name)."),),
)
