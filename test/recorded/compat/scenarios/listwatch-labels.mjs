// Label selectors of lists.
import { scenario, GET } from '../steps.ts';
import { CM, PODS, q, cm, pod, LIST, make } from './kit/listwatch.mjs';

const objects = [
  cm('a', { app: 'web', tier: 'front', n: '5' }),
  cm('b', { app: 'web', tier: 'back', n: '10' }),
  cm('c', { app: 'db', tier: 'back', n: '1' }),
  cm('d', { app: '', 'example.com/owner': 'x', n: 'five' }),
  cm('e'),
];
const matching = {
  equals: ['app=web', 'app==web', 'app=db', 'app=none', 'APP=web', 'app=WEB'],
  'equals-empty-value': ['app=', 'app==', 'tier='],
  'not-equals': ['app!=web', 'app!=none', 'app!=', 'nokey!=x'],
  in: ['app in (web)', 'app in (web,db)', 'app in (none)', 'app in (web,,db)', 'app in ()', 'app in (,)', 'app in (,web)', 'app in (web,web)'],
  notin: ['app notin (web)', 'app notin (web,db)', 'app notin ()', 'app notin (,)', 'nokey notin (x)'],
  exists: ['app', 'example.com/owner', 'nokey', 'n'],
  'not-exists': ['!app', '!nokey', '!example.com/owner', '! app'],
  prefixed: ['example.com/owner=x', 'example.com/owner!=x', 'example.com/owner in (x,y)', 'owner=x'],
  'greater-less': ['n>4', 'n<6', 'n>5', 'n>4,n<11', 'n<2', 'n > 4', 'n>-5', 'nokey>1'],
  combined: ['app=web,tier=back', 'app=web,tier!=back', 'app,tier', 'app,!tier', 'app in (web,db),tier=back', 'app=web,app=db', 'app!=web,app!=db', 'app=web,app!=db', 'tier notin (front),app', '!tier,!app'],
  spaces: [' app = web ', 'app= web', 'app =web', 'app==  web', 'app  in  ( web , db )', 'app in(web)', 'app notin(web)', '\tapp\t=\tweb\t', 'app = web , tier = back', 'app != web'],
  empty: ['', ' ', ','],
  commas: ['app=web,', ',app=web', 'app=web,,tier=back', 'app,', 'app=,tier=back'],
  keywords: ['in', 'notin', 'in=x', 'in in (x)', 'notin notin (x)', 'app=in', 'app=notin', 'app in (in)', 'exists', '!in'],
};
const long = (n) => 'x'.repeat(n);
const invalid = {
  'two-equals': 'a=b=c', 'three-equals': 'a===b', 'only-equals': '=', 'no-key': '=b', 'only-bang': '!', 'bang-equals': '!=b', 'double-bang': '!!a', 'bang-with-value': '!a=b', 'bang-after': 'a!', 'bang-joins': 'a!b', 'value-bang': 'a=!b',
  'two-words': 'a b', 'word-after-value': 'a=b c', 'in-without-set': 'a in', 'in-bare-value': 'a in b', 'in-open': 'a in (b', 'in-open-only': 'a in (', 'in-no-open': 'a in b)', 'in-close-only': 'a in )', 'in-no-comma': 'a in (b c)', 'in-nested': 'a in ((b))', 'in-trailing': 'a in (b) c', 'in-equals': 'a in (b=c)', 'notin-without-set': 'a notin', 'in-upper-case': 'a IN (b)',
  parenthesis: '(a)', 'parenthesis-start': '(', 'parenthesis-end': ')', 'key-space-set': 'a (b)', 'not-in-two-words': 'a not in (b)',
  'greater-word': 'a>x', 'greater-fraction': 'a>1.5', 'greater-empty': 'a>', 'greater-equal': 'a>=1', 'less-word': 'a<x', 'less-greater': 'a<>1', 'greater-two': 'a>1>2', 'greater-too-large': 'a>99999999999999999999',
  'key-bad-start': '-a=b', 'key-bad-end': 'a-=b', 'key-underscore-end': 'a_=b', 'key-at': 'a@b=c', 'key-star': '*', 'key-colon': 'a:b=c', 'key-two-slashes': 'a/b/c=d', 'key-empty-prefix': '/a=b', 'key-empty-name': 'a/=b', 'key-upper-prefix': 'A.Com/x=y', 'key-underscore-prefix': 'a_b/x=y', 'key-too-long': `${long(64)}=b`, 'key-prefix-too-long': `${long(254)}/a=b`, 'key-unicode': 'é=b',
  'value-bad-start': 'a=-b', 'value-bad-end': 'a=b-', 'value-slash': 'a=b/c', 'value-colon': 'a=b:c', 'value-at': 'a=b@c', 'value-too-long': `a=${long(64)}`, 'value-quoted': 'a="b"', 'value-unicode': 'a=é', 'value-in-set': 'a in (b,c/d)', 'value-notin-set': 'a notin (-b)', 'value-star': 'a=*', 'value-not-equals': 'a!=b/c',
  'second-term': 'a=b,c=d=e', 'semicolon': 'a=b;c=d', 'or': 'a=b||c=d', 'tilde': 'a=~b',
};

export default [
  ...Object.entries(matching).map(([id, selectors]) => scenario(`labels-${id}`, { section: '4.3', about: `label selectors: ${id}` }, [
    ...make(CM, ...objects), ...selectors.map((labelSelector) => LIST(CM, { labelSelector }))])),
  ...Object.entries(invalid).map(([id, labelSelector]) => scenario(`labels-invalid-${id}`, { section: '4.3', namespace: false, about: `what the label selector ${labelSelector.length > 40 ? id : labelSelector} is answered with` }, [
    GET(q(CM, { labelSelector }))])),
  scenario('labels-value-length', { section: '4.3', about: 'a key and a value of the greatest length' }, [
    ...make(CM, cm('a', { [long(63)]: long(63) })), LIST(CM, { labelSelector: `${long(63)}=${long(63)}` }), LIST(CM, { labelSelector: `${'a.'.repeat(100)}a/${long(63)}=b` })]),
  scenario('labels-invalid-on-watch', { section: '4.3', namespace: false, about: 'a bad label selector on a watch is refused like on a list' }, [GET(q(CM, { watch: '1', labelSelector: 'a in b' }))]),
  scenario('labels-invalid-on-deletecollection', { section: '4.3', namespace: false, about: 'a bad label selector on deletecollection' }, [{ kind: 'request', method: 'DELETE', path: q(CM, { labelSelector: 'a in b' }) }]),
  scenario('labels-invalid-and-bad-field', { section: '4.3', namespace: false, about: 'which of two bad selectors is named' }, [GET(q(CM, { labelSelector: 'a in b', fieldSelector: 'x=y' })), GET(q(CM, { labelSelector: 'a in b', limit: 'x' })), GET(q(CM, { labelSelector: 'a in b', resourceVersionMatch: 'Exact' }))]),
  scenario('labels-invalid-on-get', { section: '4.3', about: 'a label selector on a get is not looked at' }, [...make(CM, cm('a')), GET(q(`${CM}/a`, { labelSelector: 'a in b', fieldSelector: 'x=y' }))]),
  scenario('labels-of-pods', { section: '4.3', about: 'label selectors work alike for another kind' }, [
    ...make(PODS, pod('a', { app: 'web' }), pod('b', { app: 'db' }), pod('c')), LIST(PODS, { labelSelector: 'app' }), LIST(PODS, { labelSelector: 'app!=web' }), LIST(PODS, { labelSelector: 'app in (web,db)' })]),
  scenario('labels-and-fields', { section: '4.3', about: 'label and field selector must both match' }, [
    ...make(CM, ...objects), LIST(CM, { labelSelector: 'app=web', fieldSelector: 'metadata.name=a' }), LIST(CM, { labelSelector: 'app=web', fieldSelector: 'metadata.name=c' }), LIST(CM, { labelSelector: 'app=web', fieldSelector: 'metadata.name!=a' })]),
  scenario('labels-from-cache', { section: '4.5', about: 'label selectors with resourceVersion=0 and an exact version' }, [
    ...make(CM, ...objects), { kind: 'sleep', ms: 300 }, LIST(CM, { labelSelector: 'app=web', resourceVersion: '0' }), LIST(CM, { labelSelector: 'app=web', resourceVersion: '${made_a.metadata.resourceVersion}', resourceVersionMatch: 'Exact' })]),
];
