// The old /watch/ paths and the subresources that reach for a kubelet or a backend which is not there.
import { scenario, GET, POST, PUT, DELETE, WATCH, WATCHED } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const cm = (name, rest = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest });
const pod = (name, spec = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
const about = (text) => ({ section: '4.2', about: text });

export default [
  scenario('crud-legacy-watch-collection', about('/watch/ before the resource watches a collection'), [
    POST(cms, cm('a')),
    WATCH('w', '/api/v1/watch/namespaces/$ns/configmaps'),
    POST(cms, cm('b')),
    DELETE(`${cms}/b`),
    WATCHED('w', { events: 3 }),
  ]),
  scenario('crud-legacy-watch-item', about('/watch/ before a named resource watches that one'), [
    POST(cms, cm('a')), POST(cms, cm('b')),
    WATCH('w', '/api/v1/watch/namespaces/$ns/configmaps/b'),
    PUT(`${cms}/a`, cm('a', { data: { k: '1' } })), PUT(`${cms}/b`, cm('b', { data: { k: '1' } })),
    WATCHED('w', { events: 2 }),
  ]),
  scenario('crud-legacy-watch-selector', about('/watch/ takes selectors, and ignores watch=false'), [
    POST(cms, { ...cm('a'), metadata: { name: 'a', labels: { k: '1' } } }), POST(cms, cm('b')),
    WATCH('w', '/api/v1/watch/namespaces/$ns/configmaps?labelSelector=k%3D1&watch=false'),
    WATCHED('w', { events: 1 }),
  ]),
  scenario('crud-legacy-watch-methods', about('/watch/ paths only take GET'), [
    POST('/api/v1/watch/namespaces/$ns/configmaps', cm('x')), DELETE('/api/v1/watch/namespaces/$ns/configmaps'), PUT('/api/v1/watch/namespaces/$ns/configmaps/x', cm('x')), GET('/api/v1/watch/foos'), GET('/api/v1/watch'), GET('/api/v1/watch/namespaces/$ns/pods/x/status'), GET('/apis/apps/v1/watch/foos'),
  ]),
  scenario('crud-legacy-watch-group', about('/watch/ of a named group'), [
    POST('/apis/coordination.k8s.io/v1/namespaces/$ns/leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } }),
    WATCH('w', '/apis/coordination.k8s.io/v1/watch/namespaces/$ns/leases'),
    WATCHED('w', { events: 1 }),
  ]),
  scenario('crud-legacy-item-watch-parameter', about('watch on a named path is a plain read'), [POST(cms, cm('a')), GET(`${cms}/a?watch=true`), GET(`${cms}/none?watch=1`)]),
  scenario('crud-legacy-pod-log', about('logs of a pod that runs nowhere'), [
    POST(`${core}/pods`, pod('p'), { compare: 'status' }),
    GET(`${core}/pods/p/log`), GET(`${core}/pods/p/log?container=none`), GET(`${core}/pods/p/log?tailLines=x`), GET(`${core}/pods/p/log?tailLines=-1`), GET(`${core}/pods/p/log?sinceSeconds=0`), GET(`${core}/pods/p/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z`), GET(`${core}/pods/p/log?limitBytes=0`), GET(`${core}/pods/none/log`), POST(`${core}/pods/p/log`, {}),
  ]),
  scenario('crud-legacy-pod-log-containers', about('a pod with several containers needs a container name'), [
    POST(`${core}/pods`, pod('p', { containers: [{ name: 'a', image: 'i' }, { name: 'b', image: 'i' }], initContainers: [{ name: 'i', image: 'i' }] }), { compare: 'status' }),
    GET(`${core}/pods/p/log`), GET(`${core}/pods/p/log?container=x`), GET(`${core}/pods/p/log?container=a`),
  ]),
  scenario('crud-legacy-pod-log-bound', { ...about('logs of a pod bound to a node that does not exist') }, [
    POST(`${core}/pods`, pod('p', { nodeName: '$ns-none' }), { compare: 'status' }),
    GET(`${core}/pods/p/log`), POST(`${core}/pods/p/exec?command=ls&stdout=true`, undefined), GET(`${core}/pods/p/proxy/`), GET(`${core}/pods/p/portforward`),
  ]),
  scenario('crud-legacy-pod-exec', about('exec, attach and port forwarding without an upgrade or a node'), [
    POST(`${core}/pods`, pod('p'), { compare: 'status' }),
    POST(`${core}/pods/p/exec`, undefined), POST(`${core}/pods/p/exec?command=ls&stdout=true`, undefined), POST(`${core}/pods/p/exec?command=ls&container=none&stdout=true`, undefined), GET(`${core}/pods/p/exec?command=ls&stdout=true`), POST(`${core}/pods/p/attach`, undefined), POST(`${core}/pods/p/attach?stdout=true`, undefined), POST(`${core}/pods/p/portforward`, undefined), GET(`${core}/pods/p/portforward?ports=80`), GET(`${core}/pods/none/exec?command=ls&stdout=true`),
  ]),
  scenario('crud-legacy-pod-proxy', about('proxying to a pod without an address'), [POST(`${core}/pods`, pod('p'), { compare: 'status' }), GET(`${core}/pods/p/proxy`), GET(`${core}/pods/p/proxy/`), GET(`${core}/pods/p:80/proxy/x`), GET(`${core}/pods/none/proxy/`), GET(`${core}/pods/http:p:x:y/proxy/`)]),
  scenario('crud-legacy-service-proxy', about('proxying to a service without endpoints'), [
    POST(`${core}/services`, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { clusterIP: 'None', ports: [{ port: 80, name: 'web' }] } }, { compare: 'status' }),
    GET(`${core}/services/s/proxy/`), GET(`${core}/services/s:web/proxy/x`), GET(`${core}/services/s:none/proxy/`), GET(`${core}/services/s:99/proxy/`), GET(`${core}/services/none/proxy/`), GET(`${core}/services/https:s:web/proxy/`), GET(`${core}/services/a:b:c:d/proxy/`),
  ]),
  scenario('crud-legacy-node-proxy', { ...about('proxying to a node without an address'), namespace: false, cleanup: ['/api/v1/nodes/$ns-n'] }, [
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' } }, { compare: 'status' }),
    GET('/api/v1/nodes/$ns-n/proxy/'), GET('/api/v1/nodes/$ns-n/proxy/healthz'), GET('/api/v1/nodes/$ns-none/proxy/'), GET('/api/v1/nodes/$ns-n:99/proxy/'),
  ]),
  scenario('crud-legacy-dry-run-connect', about('dryRun on a connecting subresource'), [POST(`${core}/pods`, pod('p'), { compare: 'status' }), POST(`${core}/pods/p/exec?command=ls&dryRun=All`, undefined), POST(`${core}/pods/p/proxy/x?dryRun=All`, undefined)]),
];
