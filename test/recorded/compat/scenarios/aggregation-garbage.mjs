// Garbage whose owner, or which itself, is an object of an aggregated API server; and quotas of such objects. Each scenario has a server of its own kind
// beside it, which is away in one of them: that holds up no other.
import { DELETE, GET, PATCH, POLL, POST, scenario, SLEEP } from '../steps.ts';
import { apiServicePath, cleanup, group, registered, untilReason, untilServed } from './kit/aggregation.mjs';
import { absent, blocking, cm, del, gone, isMarked, life, make, ownedBy, owner, stays, until, WAIT_KIND } from './kit/controllers.mjs';
import * as f from './kit/meta.mjs';
import { both, remoteObjects } from './kit/remote-objects.mjs';

const quiet = { compare: 'status' };
const things = `/apis/${group}/v1/namespaces/$ns/things`;
const wides = `/apis/${group}/v1/wides`;
const thing = (name) => `${things}/${name}`;
const wide = (name) => `${wides}/${name}`;
const made = (name, metadata = {}) => POST(things, { metadata: { name, ...metadata } }, { id: name, compare: 'status' });
const wideMade = (name, metadata = {}) => POST(wides, { metadata: { name, ...metadata } }, { id: name, compare: 'status' });
const asked = GET(`/apis/${group}/v1/asked`, { pick: (b) => b.asked });
const none = (o = {}) => absent({ apiVersion: `${group}/v1`, kind: 'Thing', ...o });
/** The kind is followed once an object whose owner never was has gone. */
const followed = [made('canary', ownedBy(absent())), gone(thing('canary'), { ...WAIT_KIND, ...quiet })];
const wideFollowed = [wideMade('canary', ownedBy(absent({ kind: 'Node' }))), gone(wide('canary'), { ...WAIT_KIND, ...quiet })];
const g = (id, about, steps, { extension = remoteObjects(both), ...o } = {}) =>
  scenario(`aggregation-garbage-${id}`, { section: 'aggregation', about, needs: 'aggregation-garbage', cleanup, extension, ...o }, [...registered(), untilServed(`/apis/${group}/v1/asked`), ...steps]);
/** In managedFields owners are sorted by their uids. */
const ownerNames = { pick: (b) => b.metadata.ownerReferences?.map(({ name }) => name) ?? b };
const late = (path) => gone(path, WAIT_KIND);
const lateUntil = (path, holds, o) => until(path, holds, { ...WAIT_KIND, ...o });

/** Away while the header of the scenario's switch was last `down`: it answers nothing but 503, discovery too. */
const switched = () => {
  const down = new Set();
  return remoteObjects(both, ({ path, namespace }) => {
    const [plain] = path.split('?');
    if (plain.endsWith('/down')) { down.add(namespace); return { body: {} }; }
    return down.has(namespace) ? { status: 503, body: 'away' } : undefined;
  });
};
const q = f.at('resourcequotas', 'q');
const counted = `count/things.${group}`;
const used = (count) => (b) => b.status?.used && Object.values(b.status.used).includes(count);
/** The name of what is limited has that of the scenario. */
const shown = { pick: (b) => ({ hard: Object.values(b.status.hard), used: Object.values(b.status.used) }) };

export default [
  g('owner', 'a dependent stays while its remote owner is there, and goes after it', [...followed, made('o'), make('d', ownedBy('o')), ...stays(cm('d')), del(thing('o')), late(cm('d'))]),
  g('owner-early', 'the same before the kind is followed', [made('o'), make('d', ownedBy('o')), ...stays(cm('d'), 1000), del(thing('o')), late(cm('d'))]),
  g('owner-absent', 'an owner that the remote server never had', [make('d', ownedBy(none())), late(cm('d'))]),
  g('owner-uid', 'one of the name with another uid', [made('o'), make('d', ownedBy(owner('o', { uid: absent().uid }))), late(cm('d')), GET(thing('o'), life)]),
  g('owner-kind', 'a kind that the remote server does not have', [make('d', ownedBy(none({ kind: 'Other' }))), ...followed, GET(cm('d'), life)]),
  g('owner-version', 'a version that it does not have', [make('d', ownedBy(none({ apiVersion: `${group}/v2` }))), ...followed, GET(cm('d'), life)]),
  g('owner-wide', 'a cluster-scoped owner', [...wideFollowed, wideMade('o'), make('d', ownedBy('o')), ...stays(cm('d')), del(wide('o')), late(cm('d'))]),
  g('owner-two', 'a local owner is left: the reference to the remote one goes', [...followed, made('o'), make('p'), make('d', ownedBy('o', 'p')), SLEEP(1000), GET(cm('d'), ownerNames), del(thing('o')), lateUntil(cm('d'), (b) => b.metadata.ownerReferences.length === 1, ownerNames)]),
  g('owner-foreground', 'a remote owner is deleted in the foreground', [...followed, made('o'), make('d', ownedBy(blocking('o'))), ...stays(cm('d'), 1000), del(thing('o'), 'Foreground'), late(cm('d')), late(thing('o')), asked]),
  g('owner-orphan', 'a remote owner leaves orphans', [...followed, made('o'), make('d', ownedBy('o')), ...stays(cm('d'), 1000), del(thing('o'), 'Orphan'), late(thing('o')), GET(cm('d'), life), asked]),
  g('owner-other-namespace', 'a remote owner in another namespace is none, and an event says so', [...followed,
    POST(`/apis/${group}/v1/namespaces/$ns-2/things`, { metadata: { name: 'o' } }, { id: 'o', compare: 'status' }), SLEEP(1000), make('d', ownedBy('o')), late(cm('d')),
    lateUntil(f.at('events'), (b) => b.items.length > 0, { pick: (b) => b.items?.map(({ reason, message, type, involvedObject, source, count }) => ({ reason, message, type, involvedObject: { ...involvedObject, resourceVersion: null }, source, count })) ?? b })]),
  g('owner-of-wide', 'a cluster-scoped object has no namespaced owner, and stays', [...followed, made('o'), POST(f.on('nodes'), f.node('$ns-m', ownedBy('o')), quiet), ...stays(f.on('nodes', '$ns-m')), del(thing('o')), ...stays(f.on('nodes', '$ns-m'))], { cleanup: [...cleanup, f.on('nodes', '$ns-m')] }),
  g('dependent', 'a remote dependent goes after its local owner', [...followed, make('o'), made('d', ownedBy('o')), SLEEP(1000), del(cm('o')), late(thing('d')), asked]),
  g('dependent-wide', 'a cluster-scoped one', [...wideFollowed, POST(f.on('nodes'), f.node('$ns-n'), { id: 'n', compare: 'status' }), wideMade('d', ownedBy('n')), SLEEP(1000), del(f.on('nodes', '$ns-n')), late(wide('d')), asked], { cleanup: [...cleanup, f.on('nodes', '$ns-n')] }),
  g('dependent-two', 'one owner is left: the reference to the other goes', [...followed, make('o'), make('p'), made('d', ownedBy('o', 'p')), SLEEP(1000), del(cm('o')), lateUntil(thing('d'), (b) => b.metadata.ownerReferences.length === 1, ownerNames), asked]),
  g('dependent-foreground', 'a local owner waits for a remote dependent that blocks it', [...followed, make('o'), made('d', { ...ownedBy(blocking('o')), finalizers: ['example.com/hold'] }), SLEEP(1000), del(cm('o'), 'Foreground'), lateUntil(thing('d'), isMarked, life), ...stays(cm('o'), 1000), PATCH(thing('d'), 'merge', { metadata: { finalizers: null } }, quiet), late(cm('o'))]),
  g('dependent-orphan', 'a local owner leaves a remote orphan', [...followed, make('o'), made('d', ownedBy('o')), SLEEP(1000), del(cm('o'), 'Orphan'), late(cm('o')), GET(thing('d'), life), asked]),
  g('dependent-remote', 'owner and dependent are both remote', [...followed, made('o'), made('d', ownedBy('o')), SLEEP(1000), del(thing('o')), late(thing('d')), asked]),
  g('down', 'while the remote server is away nothing is deleted because of it', [...followed, made('o'), make('d', ownedBy('o')), ...stays(cm('d'), 1000), GET(`/apis/${group}/v1/down`, quiet), untilReason('FailedDiscoveryCheck', quiet),
    make('e', ownedBy(none())), make('gone', ownedBy(absent())), gone(cm('gone'), quiet), ...stays(cm('d'), 2000), GET(cm('e'), life)], { extension: switched() }),
  g('unregistered', 'nor when its APIService is deleted', [...followed, made('o'), make('d', ownedBy('o')), ...stays(cm('d'), 1000), DELETE(apiServicePath(), undefined, quiet), gone(thing('o'), quiet), make('gone', ownedBy(absent())), gone(cm('gone'), quiet), ...stays(cm('d'), 2000)]),
  g('quota', 'remote objects are counted, and none is refused', [...followed, made('a'), made('b'), POST(f.at('resourcequotas'), f.quota('q', {}, { [counted]: '2' }), quiet), POLL(q, used('2'), { ...WAIT_KIND, ...shown }), made('c'), DELETE(thing('a'), undefined, quiet), DELETE(thing('b'), undefined, quiet), POLL(q, used('1'), { ...WAIT_KIND, ...shown })]),
];
