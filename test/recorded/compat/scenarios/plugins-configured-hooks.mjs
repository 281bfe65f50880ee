// Credentials for webhooks, of each plugin's kubeconfig. Users can be named after a port of the runner by `*` alone; other names are tested by src/net/outbound/credentials-by-host.test.ts.
import { scenario, POST, HOOKED } from '../steps.ts';
import { CM, cm, quiet, allow, install, mutating, pathOf, validating, webhook } from './kit/admission.mjs';

const caller = (name) => HOOKED(name, { note: name, pick: (calls) => calls.map(({ authorization, certificate }) => ({ authorization, certificate })) });
const within = (needs, id, about, configuration) => {
  const cleanup = [`${pathOf(configuration)}/${configuration.metadata.name}`, `${pathOf(configuration)}/$ns-ready`];
  return scenario(`plugins-configured-hooks-${id}`, { section: '2', about, needs, hooks: { h: allow }, cleanup }, [...install(configuration), POST(CM, cm(), quiet), caller('h')]);
};

export default [
  within('webhook-credentials', 'token', 'a user for all hosts, with a token', mutating(webhook('h'))),
  within('webhook-credentials', 'current', 'the user of the current context, with a certificate', validating(webhook('h'))),
  within('webhook-credentials-other', 'basic', 'a user with a password', mutating(webhook('h'))),
  within('webhook-credentials-other', 'none', 'no user', validating(webhook('h'))),
];
