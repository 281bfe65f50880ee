// What is special about ConfigMaps, Secrets and a few other simple kinds.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const secrets = `${core}/secrets`;
const cm = (name, rest = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest });
const secret = (name, rest = {}) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...rest });
const b64 = (s) => Buffer.from(s).toString('base64');
const about = (text) => ({ section: '4.2', about: text });
const core2 = (b) => (b.kind === 'Status' ? b : { type: b.type, data: b.data, stringData: b.stringData, binaryData: b.binaryData, immutable: b.immutable });

export default [
  scenario('crud-objects-configmap-keys', about('keys of ConfigMap data and binaryData'), ['ok', 'a.b-c_D', 'bad key', 'a/b', '.', '..', '..x', '...', 'k'.repeat(253), 'k'.repeat(254), '', 'é'].map((k, i) => POST(cms, cm(`c${i}`, { data: { [k]: 'v' } }), { pick: core2 }))),
  scenario('crud-objects-configmap-both', about('a key may not be in data and binaryData'), [
    POST(cms, cm('c', { data: { k: 'v', l: 'w' }, binaryData: { k: b64('v') } })),
    POST(cms, cm('c', { data: { k: 'v' }, binaryData: { 'bad key': b64('v') } })),
    POST(cms, cm('d', { data: { k: 'v' }, binaryData: { l: b64('\u0000\u0001') } })),
  ]),
  scenario('crud-objects-configmap-size', about('the values of a ConfigMap may take 1 MiB together'), [
    POST(cms, cm('a', { data: { k: 'x'.repeat(1048576) } }), { pick: (b) => (b.kind === 'Status' ? b : b.data.k.length) }),
    POST(cms, cm('b', { data: { k: 'x'.repeat(1048577) } })),
    POST(cms, cm('b', { data: { k: 'x'.repeat(524288) }, binaryData: { l: b64('x'.repeat(524289)) } })),
  ]),
  scenario('crud-objects-configmap-immutable', about('an immutable ConfigMap takes metadata changes only'), [
    POST(cms, cm('c', { data: { k: 'v' }, immutable: true })),
    PUT(`${cms}/c`, cm('c', { data: { k: 'w' }, immutable: true })),
    PUT(`${cms}/c`, cm('c', { data: { k: 'v' }, immutable: false })),
    PUT(`${cms}/c`, cm('c', { data: { k: 'v' } })),
    PATCH(`${cms}/c`, 'merge', { binaryData: { b: b64('x') } }),
    PATCH(`${cms}/c`, 'merge', { data: { k: null } }),
    PATCH(`${cms}/c`, 'merge', { metadata: { labels: { l: '1' } } }),
    PUT(`${cms}/c`, cm('c', { data: { z: 'w' }, binaryData: { b: b64('x') } })),
  ]),
  scenario('crud-objects-configmap-make-immutable', about('a ConfigMap can be made immutable later, and false is kept'), [
    POST(cms, cm('c', { data: { k: 'v' }, immutable: false })),
    PATCH(`${cms}/c`, 'merge', { immutable: true, data: { k: 'w' } }),
    PATCH(`${cms}/c`, 'merge', { immutable: null }),
  ]),
  scenario('crud-objects-secret-string-data', about('stringData is written into data and never shown'), [
    POST(secrets, secret('s', { data: { a: b64('1'), b: b64('2') }, stringData: { b: 'two', c: 'trois é' } })),
    GET(`${secrets}/s`),
    PATCH(`${secrets}/s`, 'merge', { stringData: { a: 'one' } }),
    PUT(`${secrets}/s`, secret('s', { stringData: { only: 'x' } })),
    PATCH(`${secrets}/s`, 'merge', { stringData: { only: null } }, { pick: core2 }),
    PATCH(`${secrets}/s`, 'strategic', { stringData: { more: '' } }, { pick: core2 }),
  ]),
  scenario('crud-objects-secret-string-data-types', about('stringData of wrong types and with bad keys'), [
    POST(secrets, secret('s', { stringData: { a: 1 } })), POST(secrets, secret('s', { stringData: 'x' })), POST(secrets, secret('s', { stringData: { 'bad key': 'x' } })), POST(secrets, secret('s', { stringData: { a: null } }), { pick: core2 }),
  ]),
  scenario('crud-objects-secret-keys', about('keys of Secret data'), ['ok', '.dockercfg', 'bad key', '..', 'k'.repeat(254)].map((k, i) => POST(secrets, secret(`s${i}`, { data: { [k]: b64('v') } }), { pick: core2 }))),
  scenario('crud-objects-secret-size', about('the values of a Secret may take 1 MiB together'), [
    POST(secrets, secret('a', { data: { k: b64('x'.repeat(1048576)) } }), { pick: (b) => (b.kind === 'Status' ? b : b.data.k.length) }),
    POST(secrets, secret('b', { data: { k: b64('x'.repeat(1048577)) } })),
    POST(secrets, secret('b', { stringData: { k: 'x'.repeat(1048577) } })),
  ]),
  scenario('crud-objects-secret-type', about('the type of a Secret defaults to Opaque and cannot change'), [
    POST(secrets, secret('s', { data: { a: b64('1') } }), { pick: core2 }),
    POST(secrets, secret('e', { type: '' }), { pick: core2 }),
    POST(secrets, secret('own', { type: 'example.com/own thing' }), { pick: core2 }),
    PUT(`${secrets}/s`, secret('s', { type: 'example.com/other' })),
    PUT(`${secrets}/own`, secret('own', { data: { a: b64('1') } })),
    PATCH(`${secrets}/own`, 'merge', { type: null }),
  ]),
  scenario('crud-objects-secret-immutable', about('an immutable Secret'), [
    POST(secrets, secret('s', { immutable: true, data: { a: b64('1') } })),
    PATCH(`${secrets}/s`, 'merge', { stringData: { a: '2' } }),
    PATCH(`${secrets}/s`, 'merge', { immutable: false }),
    PATCH(`${secrets}/s`, 'merge', { metadata: { annotations: { a: '1' } } }, { pick: core2 }),
  ]),
  ...Object.entries({
    'dockerconfigjson': ['kubernetes.io/dockerconfigjson', [{}, { '.dockerconfigjson': '' }, { '.dockerconfigjson': 'not json' }, { '.dockerconfigjson': '{"auths":{}}' }, { '.dockerconfigjson': '[]' }]],
    'dockercfg': ['kubernetes.io/dockercfg', [{}, { '.dockercfg': 'not json' }, { '.dockercfg': '{}' }]],
    'basic-auth': ['kubernetes.io/basic-auth', [{}, { username: 'u' }, { password: 'p' }, { other: 'x' }]],
    'ssh-auth': ['kubernetes.io/ssh-auth', [{}, { 'ssh-privatekey': '' }, { 'ssh-privatekey': 'k' }]],
    'tls': ['kubernetes.io/tls', [{}, { 'tls.crt': 'c' }, { 'tls.key': 'k' }, { 'tls.crt': '', 'tls.key': '' }, { 'tls.crt': 'not a certificate', 'tls.key': 'k' }]],
    'service-account-token': ['kubernetes.io/service-account-token', [{}]],
    'bootstrap-token': ['bootstrap.kubernetes.io/token', [{}, { 'token-id': 'x' }]],
  }).map(([id, [type, datas]]) => scenario(`crud-objects-secret-type-${id}`, about(`what a Secret of type ${type} must hold`), datas.map((d, i) => POST(secrets, secret(`s${i}`, { type, stringData: d }), { pick: core2 })))),
  scenario('crud-objects-secret-type-token-annotation', about('a service account token Secret must name its account'), [
    POST(secrets, { ...secret('s', { type: 'kubernetes.io/service-account-token' }), metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': '' } } }),
    POST(secrets, { ...secret('s', { type: 'kubernetes.io/service-account-token' }), metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'sa' } } }),
  ]),
  scenario('crud-objects-binary', about('binary values round trip'), [
    POST(cms, cm('c', { binaryData: { all: Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('base64') } })),
    GET(`${cms}/c`),
  ]),
  scenario('crud-objects-limit-range', about('what a LimitRange checks'), [
    POST(`${core}/limitranges`, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } }] } }),
    POST(`${core}/limitranges`, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' } }, { type: 'Container' }] } }),
    POST(`${core}/limitranges`, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '2' } }] } }),
    POST(`${core}/limitranges`, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }),
  ]),
];
