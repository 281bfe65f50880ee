// Services that become ExternalName: what of their addresses goes, by what the client left as it was.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';
import { inNs } from './kit/kinds-core.mjs';

const at = inNs('services');
const one = inNs('services', 's');
const ports = [{ port: 80 }];
const service = (spec) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec });
const shown = (body) => (body.kind === 'Status' ? body : body.spec);
const external = { type: 'ExternalName', externalName: 'example.com' };
const changes = {
  'type-only': external, 'address-emptied': { ...external, clusterIP: '' }, 'address-removed': { ...external, clusterIP: null }, 'both-removed': { ...external, clusterIP: null, clusterIPs: null },
  'list-removed': { ...external, clusterIPs: null }, 'both-named': { ...external, clusterIP: 'None', clusterIPs: ['None'] }, 'families-removed': { ...external, ipFamilies: null, ipFamilyPolicy: null }, 'another-family': { ...external, ipFamilies: ['IPv6'] },
};
const bases = { headless: { clusterIP: 'None', ports }, 'headless-selecting': { clusterIP: 'None', selector: { a: 'b' } }, addressed: { ports } };

export default [
  ...Object.entries(bases).flatMap(([base, spec]) => [
    ...Object.entries(changes).map(([change, patch]) => scenario(`core-service-external-${base}-${change}`, { section: '3', about: `a Service (${base}) becomes ExternalName by a patch: ${change}` }, [
      POST(at, service(spec), { pick: shown }), PATCH(one, 'merge', { spec: patch }, { pick: shown }), GET(one, { pick: shown }),
    ])),
    scenario(`core-service-external-${base}-put`, { section: '3', about: `a Service (${base}) becomes ExternalName by a PUT, and ClusterIP again` }, [
      POST(at, service(spec), { pick: shown }), PUT(one, service(external), { pick: shown }), GET(one, { pick: shown }), PUT(one, service({ ports }), { pick: shown }),
    ]),
  ]),
  scenario('core-service-external-headless-put-old-client', { section: '3', about: 'a client that knows only clusterIP sends None along with ExternalName' }, [
    POST(at, service(bases.headless), { pick: shown }), PUT(one, service({ ...external, clusterIP: 'None' }), { pick: shown }), GET(one, { pick: shown }), PUT(one, service({ ports }), { pick: (body) => body.spec.type }),
  ]),
  scenario('core-service-address-changed-by-old-client', { section: '3', about: 'a PUT with another clusterIP and no clusterIPs' }, [
    POST(at, service({ ports, clusterIP: '10.0.0.77' }), { pick: shown }), PUT(one, service({ ports, clusterIP: '10.0.0.78' }), { pick: shown }), PUT(one, service({ ports, clusterIP: 'None' }), { pick: shown }), PUT(one, service({ ports, clusterIP: '' }), { pick: shown }),
  ]),
];
