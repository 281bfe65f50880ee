// CONNECT: exec, attach, portforward and proxy with validating and mutating webhooks.
import { POST, GET, PUT, DELETE } from '../steps.ts';
import { PODS, pod, webhook, mutating, validating, rule, allow, answer, deny, patch, add, hooked, reviewed, brief, called, quiet, warned } from './kit/admission.mjs';

const connects = (resources) => ({ rules: [rule(resources, { operations: ['CONNECT'] })] });
const made = POST(PODS, pod('p', { nodeName: '$ns-n' }), quiet);
const on = (id, about, configurations, hooks, steps) => hooked(`hooks-connect-${id}`, about, configurations, { hooks }, [made, ...steps]);
const both = (id, about, resources, hooks, steps) => on(id, about, [mutating(webhook('m', connects(resources))), validating(webhook('v', connects(resources)))], hooks, steps);
const exec = (query) => POST(`${PODS}/p/exec?${query}`);
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { selector: { a: 'b' }, ports: [{ name: 'http', port: 80 }] } };
const SERVICES = '/api/v1/namespaces/$ns/services';

export default [
  both('exec-options', 'all options of an exec', 'pods/exec', { m: allow, v: allow }, [exec('command=a&command=b%20c&stdin=true&stdout=true&stderr=1&tty=0&container=c'), reviewed('m'), reviewed('v')]),
  both('exec-patched', 'the validating hook sees what the mutating one made of the options', 'pods/exec', { m: patch([add('/command', ['other']), add('/stdout', true)]), v: deny({ message: 'no', code: 403 }) }, [exec('command=a'), brief('v', 1, 'object', 'oldObject', 'options', 'operation', 'dryRun')]),
  both('exec-patched-kind', 'a patch may not make other options of them', 'pods/exec', { m: patch([add('/kind', 'PodAttachOptions')]), v: allow }, [exec('command=a'), called('v')]),
  both('exec-patched-type', 'nor a value of another type', 'pods/exec', { m: patch([add('/command', 'a')]), v: allow }, [exec('command=a'), called('v')]),
  both('exec-warnings', 'warnings of both, with a refusal', 'pods/exec', { m: answer({ warnings: ['from m'] }), v: answer({ allowed: false, warnings: ['from v'], status: { message: 'no' } }) }, [POST(`${PODS}/p/exec?command=a`, undefined, warned)]),
  on('exec-conditions', 'match conditions see the options', validating(webhook('h', { ...connects('pods/exec'), matchConditions: [{ name: 'shell', expression: "object.command[0] == 'sh'" }] })), { h: deny({ message: 'no shell' }) }, [exec('command=sh'), { ...exec('command=ls'), compare: 'status' }, called('h', 1)]),
  on('exec-condition-fails', 'one that fails', validating(webhook('h', { ...connects('pods/exec'), matchConditions: [{ name: 'container', expression: "object.container == 'c'" }] })), { h: allow }, [exec('command=ls'), called('h')]),
  on('exec-no-pod', 'hooks are asked about a pod that does not exist', validating(webhook('h', connects('pods/exec'))), { h: allow }, [POST(`${PODS}/nope/exec?command=a`), called('h', 1)]),
  on('exec-dead', 'a dead hook refuses', validating(webhook('h', { ...connects('pods/exec'), clientConfig: { url: 'https://127.0.0.1:1/' } })), {}, [exec('command=a')]),
  both('attach-options', 'all options of an attach', 'pods/attach', { m: allow, v: deny({ message: 'no' }) }, [POST(`${PODS}/p/attach?stdin=true&stdout=false&stderr=true&tty=true&container=c`), reviewed('m'), reviewed('v')]),
  both('attach-patched', 'a patch of the container of an attach', 'pods/attach', { m: patch([add('/container', 'nope')]), v: allow }, [POST(`${PODS}/p/attach?container=c&stdout=true`), brief('v', 1, 'object')]),
  both('portforward-options', 'the ports of a portforward', 'pods/portforward', { m: allow, v: deny({ message: 'no', code: 403, reason: 'Forbidden' }) }, [POST(`${PODS}/p/portforward?ports=80&ports=443`), reviewed('m'), reviewed('v')]),
  both('proxy-options', 'the path of a proxy', 'pods/proxy', { m: allow, v: deny({ message: 'no' }) }, [PUT(`${PODS}/p:8080/proxy/a/b?x=y`, { a: 1 }), brief('m', 1, 'name', 'object', 'operation', 'resource', 'subResource'), brief('v', 1, 'name', 'object')]),
  both('proxy-root', 'a proxy without a path', 'pods/proxy', { m: allow, v: deny({ message: 'no' }) }, [GET(`${PODS}/p/proxy`), brief('m', 1, 'name', 'object'), DELETE(`${PODS}/p/proxy/`), brief('v', 1, 'name', 'object')]),
  both('service-proxy', 'the proxy of a service, with its port in the name', 'services/proxy', { m: allow, v: deny({ message: 'no' }) }, [POST(SERVICES, service, quiet), GET(`${SERVICES}/https:s:http/proxy/x?y=z`), reviewed('m'), reviewed('v')]),
  on('any-subresource', 'pods/*: a CONNECT is matched as well, a create is not', validating(webhook('h', connects('pods/*'))), { h: deny({ message: 'no' }) }, [exec('command=a'), POST(PODS, pod('q'), quiet), called('h', 1)]),
];
