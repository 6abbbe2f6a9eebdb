"""A Hub on the loopback interface: just what the official client asks of it, over repos that a test keeps in memory."""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlparse

Branches = dict[str, dict[str, bytes]]
"""Branch -> path -> content."""


def commit_of(files: dict[str, bytes]) -> str:
    """A commit id that changes with the files."""
    told = json.dumps({path: hashlib.sha1(content).hexdigest() for path, content in sorted(files.items())})
    return hashlib.sha1(told.encode()).hexdigest()


class HubServer:
    """Serves `repos`: (type, `org/name`) -> branches. `refused` maps a repo to the status it answers with.

    `faults` holds (part of a path, fault) for the next requests that match: an HTTP status, `cut` (no answer) or
    `lost` (done, but the answer does not arrive). `private` and `commits` tell what was made.
    """

    def __init__(self) -> None:
        self.faults: list[tuple[str, int | str]] = []
        self.private: dict[str, bool] = {}
        self.commits: list[list[str]] = []
        self.repos: dict[tuple[str, str], Branches] = {}
        self.refused: dict[str, int] = {}
        self.requests: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.answer(self, with_body=True)

            def do_HEAD(self) -> None:
                hub.answer(self, with_body=False)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    hub.write(self, body)
                except (KeyError, ValueError) as error:  # not what this server knows: fail at once, not in retries
                    _send(self, True, json.dumps({"error": f"unread: {error!r}"}).encode(), 400)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "HubServer":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def environment(self, folder: Path) -> dict[str, str]:
        """What a process must be started with to talk to this Hub and no other, caching below `folder`."""
        return {"HF_ENDPOINT": self.url, "HF_HOME": str(folder), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_TOKEN": ""}

    def answer(self, request: BaseHTTPRequestHandler, with_body: bool) -> None:
        """Answer one GET or HEAD."""
        address = urlparse(request.path)
        path = unquote(address.path)
        self.requests.append(f"{request.command} {path}")
        if self._fails(request, path):
            return None
        if path in ("/api/models", "/api/datasets"):
            kind = path.removeprefix("/api/").removesuffix("s")
            author = parse_qs(address.query).get("author", [""])[0]
            names = [name for (of, name) in self.repos if of == kind and name.startswith(f"{author}/")]
            told = [{"id": name, "sha": commit_of(self.repos[kind, name].get("main", {}))} for name in names]
            return _send(request, with_body, json.dumps(told).encode())
        for (kind, name), branches in self.repos.items():
            api, files = f"/api/{kind}s/{name}/", f"{'/datasets' if kind == 'dataset' else ''}/{name}/resolve/"
            if not path.startswith((api, files)):
                continue
            if name in self.refused:
                code = {401: "GatedRepo", 403: "GatedRepo", 404: "RepoNotFound"}.get(self.refused[name], "Unavailable")
                return _send(request, with_body, b"{}", self.refused[name], {"X-Error-Code": code})
            if path == f"{api}refs":
                return _send(request, with_body, _refs(branches))
            for branch, held in branches.items():
                for revision in (branch, commit_of(held)):
                    if path == f"{api}revision/{revision}":
                        return _send(request, with_body, _info(name, held))
                    if path == f"{api}tree/{revision}":
                        return _send(request, with_body, _tree(held))
                    if path.startswith(f"{files}{revision}/"):
                        return _file(request, with_body, held, path.removeprefix(f"{files}{revision}/"))
        return _send(request, with_body, b"{}", 404, {"X-Error-Code": "RepoNotFound"})

    def _fails(self, request: BaseHTTPRequestHandler, path: str) -> bool:
        """Whether a fault was due for this request, and has been dealt."""
        at = next((n for n, (part, fault) in enumerate(self.faults) if part in path and fault != "lost"), None)
        if at is None:
            return False
        _, fault = self.faults.pop(at)
        if isinstance(fault, int):
            _send(request, True, json.dumps({"error": f"injected {fault}"}).encode(), fault, {"Retry-After": "1"})
        request.close_connection = True
        return True

    def write(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """Answer one POST: repos made, uploads announced, commits."""
        path = unquote(urlparse(request.path).path)
        self.requests.append(f"POST {path}")
        if self._fails(request, path):
            return None
        if path == "/api/validate-yaml":
            return _send(request, True, b'{"errors": [], "warnings": []}')
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked.get('organization') or 'me'}/{asked['name']}"
            self.repos.setdefault((asked["type"], name), {"main": {".gitattributes": b"*.bin filter=lfs"}})
            self.private[name] = asked.get("visibility") == "private" or asked.get("private") is True
            return _send(request, True, json.dumps({"url": f"{self.url}/datasets/{name}"}).encode())
        for (kind, name), branches in self.repos.items():
            api = f"/api/{kind}s/{name}/"
            if path.startswith(f"{api}preupload/"):
                modes = [
                    {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                    for file in json.loads(body)["files"]
                ]
                return _send(request, True, json.dumps({"files": modes}).encode())
            if path.startswith(f"{api}commit/"):
                self._commit(branches[path.removeprefix(f"{api}commit/")], body)
                if any(part in path for part, fault in self.faults if fault == "lost"):
                    self.faults = [(part, fault) for part, fault in self.faults if fault != "lost"]
                    request.close_connection = True
                    return None
                done = {"commitUrl": f"{self.url}/{name}/commit/1", "commitOid": "1", "hookOutput": ""}
                return _send(request, True, json.dumps(done).encode())
        return _send(request, True, b"{}", 404, {"X-Error-Code": "RepoNotFound"})

    def _commit(self, held: dict[str, bytes], body: bytes) -> None:
        changed = []
        for line in body.splitlines():
            operation = json.loads(line)
            key, value = operation["key"], operation["value"]
            if key == "file":
                held[value["path"]] = base64.b64decode(value["content"])
            elif key == "deletedFile":
                del held[value["path"]]
            if key != "header":
                changed.append(value["path"])
        self.commits.append(changed)


def _tree(held: dict[str, bytes]) -> bytes:
    files = []
    for path, content in sorted(held.items()):
        oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        files.append({"type": "file", "path": path, "size": len(content), "oid": oid})
    return json.dumps(files).encode()


def _refs(branches: Branches) -> bytes:
    named = [
        {"name": branch, "ref": f"refs/heads/{branch}", "targetCommit": commit_of(held)}
        for branch, held in branches.items()
    ]
    return json.dumps({"branches": named, "converts": [], "tags": []}).encode()


def _info(name: str, held: dict[str, bytes]) -> bytes:
    siblings = [{"rfilename": path, "size": len(content)} for path, content in held.items()]
    return json.dumps({"id": name, "sha": commit_of(held), "siblings": siblings}).encode()


def _file(request: BaseHTTPRequestHandler, with_body: bool, held: dict[str, bytes], path: str) -> None:
    if path not in held:
        return _send(request, with_body, b"{}", 404, {"X-Error-Code": "EntryNotFound"})
    etag = f'"{hashlib.sha1(held[path]).hexdigest()}"'
    return _send(request, with_body, held[path], headers={"X-Repo-Commit": commit_of(held), "ETag": etag})


def _send(
    request: BaseHTTPRequestHandler,
    with_body: bool,
    content: bytes,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> None:
    request.send_response(status)
    for name, value in ({"Content-Type": "application/json"} | (headers or {})).items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    if with_body:
        request.wfile.write(content)
