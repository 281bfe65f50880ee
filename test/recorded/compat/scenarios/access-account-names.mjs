// What a token is bound to, by names that no object can have (§5).
import { scenario, POST } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const ask = (kind, name) => POST(`${core}/serviceaccounts/sa/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef: { apiVersion: 'v1', kind, ...(name === undefined ? {} : { name }) } } });

export default [
  scenario('account-bound-names', { section: '5', about: 'a token that is to be bound to a name with a slash, a percent sign, dots, or none' }, [
    POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, { compare: 'status' }),
    ...['Pod', 'Secret', 'Node'].flatMap((kind) => ['../x', 'a%2fb', '.', '..', '', undefined].map((name) => ask(kind, name))),
  ]),
];
