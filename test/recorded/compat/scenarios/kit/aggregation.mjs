// Extension API servers of scenarios: the objects that lead to them, and what they answer (see ../../extension.ts).
import { POLL, POST } from '../../steps.ts';

/** The group of a scenario; other ones begin with another letter. */
export const group = 'a.$ns.example.com';

/** Leads to the extension server of this machine: loopback addresses are not allowed in Endpoints, so it is a name. */
export const service = (name = 'ext', spec = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { type: 'ExternalName', externalName: 'localhost', ...spec } });

/** `spec`: over the usual one; undefined removes a field. */
export const apiService = ({ of = group, version = 'v1', name = 'ext', ...spec } = {}) => ({
  apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: `${version}.${of}` },
  spec: { group: of, version, groupPriorityMinimum: 1000, versionPriority: 15, caBundle: '${extension.caBundle}', service: { namespace: '$ns', name, port: '${extension.port}' }, ...spec },
});
export const apiServicePath = (version = 'v1', of = group) => `/apis/apiregistration.k8s.io/v1/apiservices/${version}.${of}`;

export const condition = (body) => body?.status?.conditions?.find(({ type }) => type === 'Available');
const shown = (body) => { const { type, status, reason, message } = condition(body) ?? {}; return { type, status, reason, message }; };

/** Waits until the condition has this reason, and records it. */
export const untilReason = (reason, { version, of, ...options } = {}) =>
  POLL(apiServicePath(version, of), (body) => condition(body)?.reason === reason, { ms: 60_000, pick: shown, ...options });
/** The APIService is passed on to once the server has heard of its own condition: one that is not says 'service unavailable'. */
export const untilServed = (path, options = {}) => POLL(path, (_, status) => status !== 503 && status !== 404, { ms: 60_000, compare: 'status', ...options });

/** The usual beginning: a Service, an APIService, available. */
export const registered = (options = {}) => [
  POST('/api/v1/namespaces/$ns/services', service(options.name), { compare: 'status' }),
  POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService(options), { compare: 'status' }),
  untilReason('Passed', options),
];
export const cleanup = [apiServicePath()];

/** Discovery of one resource, `things`. */
export const things = (of, version = 'v1') => ({
  kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${of}/${version}`,
  resources: [{ name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'] }],
});

/**
 * Answers discovery, and what is below it by `more`; all other paths are 404. The group is that of the path. Documents of OpenAPI must be answered
 * at once: the reference asks for them in the thread that makes APIServices known, so that those of all other scenarios would wait.
 */
export const serving = (more = () => undefined) => (request, count) => {
  const [path] = request.path.split('?');
  const [, root, of, version, ...rest] = path.split('/');
  if (root === 'apis' && version !== undefined && rest.length === 0) return { body: things(of, version) };
  return root === 'apis' && rest.length > 0 ? more(request, count) : undefined;
};

/** What the server under test has sent, without what is different each time. */
export const echo = ({ method, path, headers, body, certificate }) => ({ body: { method, path, headers, body, certificate } });
/** Of an echo: these headers. */
export const echoed = (...names) => (body) => ({ ...body, headers: Object.fromEntries(names.map((name) => [name, body?.headers?.[name] ?? null])) });
