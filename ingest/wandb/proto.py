"""The records of a `.wandb` log that Seamline reads, as trimmed protobuf messages.

Field names and numbers are those of `wandb_internal.proto` (a test holds them against the installed SDK); what is not
named here is skipped, which makes reading faster, and the SDK need not be imported (half a second).
"""

from functools import cache

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message
from ptars import HandlerPool

_PACKAGE = "seamline.wandb"
_INT32, _INT64, _SINT64 = 5, 3, 18
_DOUBLE, _BOOL, _STRING, _ENUM_AS_INT = 1, 8, 9, 5

MESSAGES: dict[str, dict[str, tuple[int, int | str]]] = {
    "Timestamp": {"seconds": (1, _INT64), "nanos": (2, _INT32)},
    "Item": {"key": (1, _STRING), "nested_key*": (2, _STRING), "value_json": (16, _STRING)},
    "TypedItem": {
        "key": (1, _STRING),
        "nested_key*": (2, _STRING),
        "none": (3, _ENUM_AS_INT),
        "boolean": (4, _BOOL),
        "integer": (5, _SINT64),
        "number": (6, _DOUBLE),
        "text": (7, _STRING),
        "json": (8, _STRING),
        "value_json": (16, _STRING),
    },
    "History": {"item*": (1, "Item")},
    "TypedHistory": {"item*": (1, "TypedItem")},
    "Stats": {"timestamp": (2, "Timestamp"), "item*": (3, "Item")},
    "Updates": {"update*": (1, "Item"), "remove*": (2, "Item")},
    "Key": {"key": (1, _STRING), "nested_key*": (2, _STRING)},
    "Keys": {"update*": (1, "Key"), "remove*": (2, "Key")},
    "Telemetry": {"cli_version": (5, _STRING)},
    "Run": {
        "run_id": (1, _STRING),
        "entity": (2, _STRING),
        "project": (3, _STRING),
        "config": (4, "Updates"),
        "summary": (5, "Updates"),
        "run_group": (6, _STRING),
        "job_type": (7, _STRING),
        "display_name": (8, _STRING),
        "start_time": (17, "Timestamp"),
        "telemetry": (19, "Telemetry"),
    },
    "Metric": {
        "name": (1, _STRING),
        "glob_name": (2, _STRING),
        "step_metric": (4, _STRING),
        "step_metric_index": (5, _INT32),
    },
    "Exit": {"exit_code": (1, _INT32)},
    "Version": {"producer": (1, _STRING)},
    "Header": {"version_info": (1, "Version")},
    "HistoryRecord": {"num": (1, _INT64), "history": (2, "History")},
    "TypedHistoryRecord": {"history": (2, "TypedHistory")},
    "StatsRecord": {"num": (1, _INT64), "stats": (7, "Stats")},
    "SummaryKeys": {"summary": (3, "Keys")},
    "Record": {
        "num": (1, _INT64),
        "history": (2, "History"),
        "summary": (3, "Updates"),
        "config": (5, "Updates"),
        "stats": (7, "Stats"),
        "telemetry": (11, "Telemetry"),
        "metric": (12, "Metric"),
        "run": (17, "Run"),
        "exit": (18, "Exit"),
        "header": (21, "Header"),
    },
}
"""Field name (with `*` where repeated) to number and type, by message."""

UPSTREAM = {
    "Item": "HistoryItem",
    "TypedItem": "HistoryItem",
    "History": "HistoryRecord",
    "TypedHistory": "HistoryRecord",
    "Stats": "StatsRecord",
    "Updates": "SummaryRecord",
    "Key": "SummaryItem",
    "Keys": "SummaryRecord",
    "Telemetry": "TelemetryRecord",
    "Metric": "MetricRecord",
    "Run": "RunRecord",
    "Exit": "RunExitRecord",
    "Version": "VersionInfo",
    "Header": "HeaderRecord",
    "HistoryRecord": "Record",
    "TypedHistoryRecord": "Record",
    "StatsRecord": "Record",
    "SummaryKeys": "Record",
}
"""What W&B calls a message where its name differs."""


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="seamline_wandb.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            repeated = field.endswith("*")
            added = message.field.add(name=field.rstrip("*"), number=number, label=3 if repeated else 1)
            if isinstance(kind, str):
                added.type, added.type_name = 11, f".{_PACKAGE}.{kind}"
            else:
                added.type = kind
            if name == "TypedItem" and 3 <= number <= 8:
                added.oneof_index = 0
        if name == "TypedItem":
            message.oneof_decl.add(name="value")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


@cache
def message(name: str) -> type[Message]:
    """The class of one of `MESSAGES`."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


@cache
def arrow_reader(name: str):
    """ptars' handler of one of `MESSAGES`: `list_to_record_batch(payloads)` makes one row a payload."""
    return HandlerPool([_pool().FindFileByName("seamline_wandb.proto")]).get_for_message(
        _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    )
