// An extension API server that has objects: it creates, lists, watches, patches and deletes them as far as controllers need that.
import { randomUUID } from 'node:crypto';

const json = { 'content-type': 'application/json' };
const status = (code, reason, message, details) => ({ status: code, headers: json, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: code < 400 ? 'Success' : 'Failure', message, reason, details, code } });
const notFound = (of, plural, name) => status(404, 'NotFound', `${plural}.${of} "${name}" not found`, { name, group: of, kind: plural });
const unsupported = () => status(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');

/** One server of a scenario: its objects by path, and who watches. */
class Objects {
  objects = new Map();
  asked = [];
  #version = 1;
  #watchers = new Set();
  #history = [];

  get version() { return `${this.#version}`; }

  tell(type, path, object) {
    if (type === 'DELETED') this.objects.delete(path);
    else this.objects.set(path, object);
    this.#history.push({ version: this.#version, type, path, object });
    for (const { isIn, waiting, wake } of this.#watchers) if (isIn(path)) { waiting.push({ type, object }); wake.now(); }
  }

  next(object) { return { ...object, metadata: { ...object.metadata, resourceVersion: `${++this.#version}` } }; }

  remove(path, object, policy) {
    const added = policy === 'Foreground' ? ['foregroundDeletion'] : policy === 'Orphan' ? ['orphan'] : [];
    const finalizers = [...new Set([...(object.metadata.finalizers ?? []), ...added])];
    const marked = this.next({ ...object, metadata: { ...object.metadata, finalizers, deletionTimestamp: object.metadata.deletionTimestamp ?? '2024-01-01T00:00:00Z' } });
    this.tell(finalizers.length === 0 ? 'DELETED' : 'MODIFIED', path, marked);
    return marked;
  }

  patch(path, object, { metadata }) {
    const { uid: _, resourceVersion: __, ...change } = metadata ?? {};
    const patched = this.next({ ...object, metadata: Object.fromEntries(Object.entries({ ...object.metadata, ...change }).filter(([, value]) => value !== null)) });
    const isOver = patched.metadata.deletionTimestamp !== undefined && (patched.metadata.finalizers ?? []).length === 0;
    this.tell(isOver ? 'DELETED' : 'MODIFIED', path, patched);
    return patched;
  }

  /** Ends after a minute at the latest, as watches do. */
  async *watch(isIn, shown, after) {
    const earlier = this.#history.filter(({ version, path }) => version > after && isIn(path));
    const watcher = { isIn, waiting: earlier, wake: { now: () => undefined } };
    this.#watchers.add(watcher);
    const end = Date.now() + 60_000;
    try {
      while (Date.now() < end) {
        for (const { type, object } of watcher.waiting.splice(0)) yield `${JSON.stringify({ type, object: shown(object) })}\n`;
        await new Promise((resolve) => { const timer = setTimeout(resolve, 500); watcher.wake.now = () => { clearTimeout(timer); resolve(); }; });
      }
    } finally { this.#watchers.delete(watcher); }
  }
}

const partial = (object) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata });

/**
 * `resources`: as discovery lists them. `/apis/GROUP/VERSION/asked` tells who was deleted or patched, each once. `before(request)` answers first, if it
 * answers at all.
 */
export const remoteObjects = (resources, before = () => undefined) => {
  const servers = new Map();
  return (request) => {
    const given = before(request);
    if (given !== undefined) return given;
    const { method, path, headers, body, namespace } = request;
    const [plain, query = ''] = path.split('?');
    const [, root, of, version, ...rest] = plain.split('/');
    if (root !== 'apis' || version === undefined) return undefined;
    if (rest.length === 0) return { body: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${of}/${version}`, resources } };
    const server = servers.get(namespace) ?? new Objects();
    servers.set(namespace, server);
    if (rest[0] === 'asked') return { body: { asked: [...new Set(server.asked)].map((one) => one.replaceAll(namespace, '$ns')).sort() } };
    const [plural, name] = rest[0] === 'namespaces' ? rest.slice(2) : rest;
    const resource = resources.find((one) => one.name === plural);
    if (resource === undefined) return undefined;
    const isPartial = (headers.accept ?? '').includes('as=PartialObjectMetadata');
    const shown = isPartial ? partial : (object) => object;
    const object = server.objects.get(plain);
    if (name !== undefined && object === undefined) return notFound(of, plural, name);
    if (method === 'POST') {
      const made = server.next({ apiVersion: `${of}/${version}`, kind: resource.kind, ...body, metadata: { ...body.metadata, uid: randomUUID(), creationTimestamp: '2024-01-01T00:00:00Z', ...(rest[0] === 'namespaces' ? { namespace: rest[1] } : {}) } });
      server.tell('ADDED', `${plain}/${made.metadata.name}`, made);
      return { status: 201, body: made };
    }
    if (method === 'DELETE' && name !== undefined) {
      server.asked.push(`DELETE ${plain} ${body?.propagationPolicy ?? ''}`);
      const isOther = body?.preconditions?.uid !== undefined && body.preconditions.uid !== object.metadata.uid;
      return isOther ? status(409, 'Conflict', 'another uid') : { body: server.remove(plain, object, body?.propagationPolicy) };
    }
    if (method === 'PATCH') {
      if (!headers['content-type'].includes('merge-patch+json') || headers['content-type'].includes('strategic')) return unsupported();
      server.asked.push(`PATCH ${plain}`);
      const { resourceVersion } = body?.metadata ?? {};
      const isOld = resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion;
      return isOld ? status(409, 'Conflict', 'another version') : { body: shown(server.patch(plain, object, body)) };
    }
    if (method !== 'GET') return status(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    if (name !== undefined) return { body: shown(object) };
    const isIn = (at) => (rest[0] === 'namespaces' ? at.startsWith(`${plain}/`) : at.startsWith(`/apis/${of}/${version}/`) && at.split('/').at(-2) === plural);
    const asked = new URLSearchParams(query);
    // As a server that knows no such lists: clients list first then.
    if (asked.get('sendInitialEvents') === 'true') return status(422, 'Invalid', 'sendInitialEvents is not known', { causes: [{ field: 'sendInitialEvents', message: 'Forbidden' }] });
    if (asked.get('watch') === 'true' || asked.get('watch') === '1') return { headers: json, chunks: server.watch(isIn, shown, Number(asked.get('resourceVersion') ?? '0')) };
    const items = [...server.objects].filter(([at]) => isIn(at)).map(([, one]) => shown(one));
    return { body: isPartial ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: server.version }, items } : { kind: `${resource.kind}List`, apiVersion: `${of}/${version}`, metadata: { resourceVersion: server.version }, items } };
  };
};

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'watch'];
/** Namespaced and cluster-scoped ones. */
export const both = [{ name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs }, { name: 'wides', singularName: 'wide', namespaced: false, kind: 'Wide', verbs }];
