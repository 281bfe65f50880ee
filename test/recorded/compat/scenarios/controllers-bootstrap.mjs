// Who signs cluster-info: the bootstrap-signer-controller. There is one such object, so there is one scenario.
import { DELETE, GET, PATCH, POST, scenario } from '../steps.ts';
import { until } from './kit/controllers.mjs';

const quiet = { compare: 'status' };
const configMaps = '/api/v1/namespaces/kube-public/configmaps';
const info = `${configMaps}/cluster-info`;
const secrets = '/api/v1/namespaces/kube-system/secrets';
const token = (id, stringData = {}, name = `bootstrap-token-${id}`) => POST(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'bootstrap.kubernetes.io/token', stringData: { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true', ...stringData } }, quiet);
const key = (id) => `jws-kubeconfig-${id}`;
const data = { pick: (b) => b.data ?? b };
const ids = ['aaaaaa', 'bbbbbb', 'cccccc', 'dddddd', 'eeeeee', 'ffffff'];

export default [
  scenario('controllers-bootstrap-signer', { section: 'bootstrap', about: 'the tokens that sign cluster-info', needs: 'controllers-bootstrap', namespace: false, cleanup: [info, ...ids.map((id) => `${secrets}/bootstrap-token-${id}`)] }, [
    POST(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cluster-info' }, data: { other: 'x', 'jws-kubeconfig-zzzzzz': 'stale' } }, quiet),
    token('aaaaaa'),
    token('bbbbbb', { 'usage-bootstrap-signing': 'false' }),
    token('cccccc', { expiration: '2020-01-01T00:00:00Z' }),
    GET(info, { ...data, note: 'without a kubeconfig nothing is signed' }),
    PATCH(info, 'merge', { data: { kubeconfig: 'apiVersion: v1\nkind: Config\n' } }, quiet),
    until(info, (b) => b.data[key('aaaaaa')] !== undefined, data),
    token('dddddd', { 'token-secret': 'ffffffffffffffff' }),
    until(info, (b) => b.data[key('dddddd')] !== undefined, data),
    PATCH(info, 'merge', { data: { kubeconfig: 'apiVersion: v1\nkind: Config\nclusters: []\n' } }, { id: 'changed', compare: 'status' }),
    until(info, (b) => b.metadata.resourceVersion !== undefined && b.metadata.managedFields?.some(({ manager }) => manager === 'kube-controller-manager') && b.data[key('aaaaaa')]?.endsWith('..') === false && b.data.kubeconfig.includes('clusters'), quiet),
    DELETE(`${secrets}/bootstrap-token-aaaaaa`, undefined, quiet),
    until(info, (b) => b.data[key('aaaaaa')] === undefined, data),
    GET(info, { pick: (b) => b.metadata.managedFields.map(({ manager, operation }) => `${manager} ${operation}`).toSorted() }),
    PATCH(`${secrets}/bootstrap-token-dddddd`, 'merge', { stringData: { 'usage-bootstrap-signing': 'no' } }, quiet),
    until(info, (b) => b.data[key('dddddd')] === undefined, data),
  ]),
];
