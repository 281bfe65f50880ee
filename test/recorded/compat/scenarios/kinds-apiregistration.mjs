// apiregistration.k8s.io/v1: APIService. Never created for good, since a group more would show up in everyone's discovery.
import { scenario, GET, PATCH } from '../steps.ts';
import { kind, tidy } from './kit/kinds-groups.mjs';

const group = '$ns.example.com';
const service = kind({ apiVersion: 'apiregistration.k8s.io/v1', resource: 'apiservices', kind: 'APIService', cluster: true, name: `v1.${group}`,
  base: { spec: { group, version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, service: { name: 's', namespace: 'n' } } } });
const on = (o) => ({ 'spec.service': { name: 's', namespace: 'n', ...o } });
const local = { 'spec.service': undefined };
const apps = `${service.list}/v1.apps`;
const dryRun = { query: { dryRun: 'All' }, pick: tidy };

export default [
  ...service.accepts({
    minimal: {},
    maximal: { spec: { group, version: 'v1', groupPriorityMinimum: 20000, versionPriority: 1000, caBundle: 'AAAA', service: { name: 's', namespace: 'n', port: 8443 } }, status: { conditions: [{ type: 'Available', status: 'True' }] } },
    insecure: { 'spec.insecureSkipTLSVerify': true },
    local,
    version: { 'metadata.name': `v2beta3.${group}`, 'spec.version': 'v2beta3' },
  }),
  ...service.refuses({
    name: [{ 'metadata.name': 'other' }, { 'metadata.name': 'a/b' }, { 'spec.version': 'v2' }],
    group: [{ 'spec.group': undefined, 'metadata.name': 'v2.', 'spec.version': 'v2' }, { 'spec.group': 'Bad_Group', 'metadata.name': 'v1.Bad_Group' }],
    version: [{ 'spec.version': '', 'metadata.name': `.${group}` }, { 'spec.version': '1', 'metadata.name': `1.${group}` }, { 'spec.version': 'V1', 'metadata.name': `V1.${group}` }],
    priorities: [{ 'spec.groupPriorityMinimum': 0 }, { 'spec.groupPriorityMinimum': 20001 }, { 'spec.versionPriority': 0 }, { 'spec.versionPriority': 1001 }, { 'spec.groupPriorityMinimum': undefined, 'spec.versionPriority': -1 }],
    service: [on({ name: '' }), on({ namespace: '' }), on({ port: 0 }), on({ port: 65536 })],
    'service-tls': { 'spec.insecureSkipTLSVerify': true, 'spec.caBundle': 'AAAA' },
    'local-tls': [{ ...local, 'spec.caBundle': 'AAAA' }, { ...local, 'spec.insecureSkipTLSVerify': true }],
    spec: { spec: undefined },
  }),
  scenario('apiservice-of-a-built-in-group', { section: '4.2', about: 'APIService: what the server registers for its own groups', namespace: false }, [
    GET(apps), GET(`${service.list}/v1.`), GET(`${service.list}/v2.autoscaling`, { pick: (b) => b.spec }), GET(`${service.list}/v1.autoscaling`, { pick: (b) => b.spec }), GET(`${service.list}/v1.apiregistration.k8s.io`, { pick: (b) => b.spec }),
  ]),
  scenario('apiservice-updates', { section: '4.7', about: 'APIService: which update is allowed', namespace: false }, [
    ...[{ spec: { groupPriorityMinimum: 5 } }, { spec: { group: 'other' } }, { spec: { versionPriority: 0 } }, { spec: { service: { name: 's', namespace: 'n' } } }, { status: null }].map((p) => PATCH(apps, 'merge', p, dryRun)),
    ...[{ conditions: [{ type: 'Available', status: 'Maybe' }] }, { conditions: [{ type: 'Other', status: 'Unknown' }] }].map((status) => PATCH(`${apps}/status`, 'merge', { metadata: { labels: { a: 'b' } }, spec: { versionPriority: 3 }, status }, dryRun)),
  ]),
];
