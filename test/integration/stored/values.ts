/**
 * Objects that were stored by old servers, by servers with other feature gates, or by hand.
 * `record.ts` records kube-apiserver's responses for them, and the test compares Keelson's
 * responses.
 */
import type { Fields } from '../../../src/api/object.ts'

export type StoredValue = {
  readonly name: string
  /** Key below /registry/, with `$` for the object's name. */
  readonly key: string
  /** Path of the object in the API, with `$` for the object's name. */
  readonly path: string
  readonly value: Fields
  /** A merge patch whose response is also compared. Absent if the object is only read. */
  readonly patch?: Fields
  /** Set if protobuf cannot represent the value. The value is then only tested as JSON. */
  readonly isOnlyJson?: true
}

const pod = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const selector = { matchLabels: { a: 'b' } }

const namespaced = (
  name: string,
  [prefix, group, plural]: readonly [string, string, string],
  value: Fields,
  more: Pick<StoredValue, 'patch' | 'isOnlyJson'> = {},
): StoredValue => ({
  name,
  key: `${prefix}/default/$`,
  path: `/${group}/namespaces/default/${plural}/$`,
  value,
  ...more,
})

const global = (
  name: string,
  [prefix, group, plural]: readonly [string, string, string],
  value: Fields,
  more: Pick<StoredValue, 'patch' | 'isOnlyJson'> = {},
): StoredValue => ({ name, key: `${prefix}/$`, path: `/${group}/${plural}/$`, value, ...more })

const budgets = ['poddisruptionbudgets', 'apis/policy/v1', 'poddisruptionbudgets'] as const
const budget = (apiVersion: string, spec: Fields): Fields => ({
  kind: 'PodDisruptionBudget',
  apiVersion,
  spec,
})
const never = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
const label = { patch: { metadata: { labels: { seen: 'yes' } } } }

const policies: readonly StoredValue[] = [
  namespaced(
    'pdb-empty',
    budgets,
    budget('policy/v1beta1', { minAvailable: 1, selector: {} }),
    label,
  ),
  namespaced('pdb-none', budgets, budget('policy/v1beta1', { minAvailable: 1 })),
  namespaced('pdb-some', budgets, budget('policy/v1beta1', { minAvailable: 1, selector })),
  namespaced(
    'pdb-all',
    budgets,
    budget('policy/v1beta1', {
      minAvailable: 1,
      selector: { matchExpressions: [{ key: never, operator: 'DoesNotExist' }] },
    }),
  ),
  namespaced(
    'pdb-mixed',
    budgets,
    budget('policy/v1beta1', {
      minAvailable: 1,
      selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: never, operator: 'Exists' }] },
    }),
  ),
  namespaced('pdb-v1-empty', budgets, budget('policy/v1', { minAvailable: 1, selector: {} })),
]

const deployments = ['deployments', 'apis/apps/v1', 'deployments'] as const
const deployment = (apiVersion: string, spec: Fields): Fields => ({
  kind: 'Deployment',
  apiVersion,
  spec,
})
const setsOfPods: readonly StoredValue[] = [
  ...['apps/v1beta1', 'apps/v1beta2', 'extensions/v1beta1'].flatMap((apiVersion) => {
    const short = apiVersion.replace('/', '-')
    return [
      namespaced(
        `deployment-${short}`,
        deployments,
        deployment(apiVersion, { selector, template: pod }),
      ),
      namespaced(
        `deployment-${short}-bare`,
        deployments,
        deployment(apiVersion, { template: pod }),
      ),
      namespaced(
        `deployment-${short}-full`,
        deployments,
        deployment(apiVersion, {
          replicas: 3,
          selector,
          template: pod,
          strategy: {
            type: 'RollingUpdate',
            rollingUpdate: { maxSurge: 2, maxUnavailable: '10%' },
          },
          minReadySeconds: 4,
          revisionHistoryLimit: 5,
          paused: true,
          progressDeadlineSeconds: 60,
          ...(apiVersion === 'apps/v1beta2' ? {} : { rollbackTo: { revision: 7 } }),
        }),
        label,
      ),
    ]
  }),
  ...['apps/v1beta2', 'extensions/v1beta1'].flatMap((apiVersion) => {
    const short = apiVersion.replace('/', '-')
    const daemons = ['daemonsets', 'apis/apps/v1', 'daemonsets'] as const
    const replicas = ['replicasets', 'apis/apps/v1', 'replicasets'] as const
    const templateGeneration = apiVersion === 'apps/v1beta2' ? {} : { templateGeneration: 3 }
    return [
      namespaced(`daemonset-${short}`, daemons, {
        kind: 'DaemonSet',
        apiVersion,
        spec: { selector, template: pod },
      }),
      namespaced(`daemonset-${short}-bare`, daemons, {
        kind: 'DaemonSet',
        apiVersion,
        spec: { template: pod },
      }),
      namespaced(
        `daemonset-${short}-full`,
        daemons,
        {
          kind: 'DaemonSet',
          apiVersion,
          spec: {
            selector,
            template: pod,
            updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
            minReadySeconds: 1,
            revisionHistoryLimit: 3,
            ...templateGeneration,
          },
          status: {
            currentNumberScheduled: 1,
            desiredNumberScheduled: 2,
            numberMisscheduled: 0,
            numberReady: 1,
          },
        },
        label,
      ),
      namespaced(`replicaset-${short}`, replicas, {
        kind: 'ReplicaSet',
        apiVersion,
        spec: { selector, template: pod },
      }),
      namespaced(`replicaset-${short}-bare`, replicas, {
        kind: 'ReplicaSet',
        apiVersion,
        spec: { template: pod },
      }),
    ]
  }),
  ...['apps/v1beta1', 'apps/v1beta2'].flatMap((apiVersion) => {
    const short = apiVersion.replace('/', '-')
    const sets = ['statefulsets', 'apis/apps/v1', 'statefulsets'] as const
    const spec = { serviceName: 's', template: pod }
    return [
      namespaced(
        `statefulset-${short}`,
        sets,
        { kind: 'StatefulSet', apiVersion, spec: { ...spec, selector } },
        label,
      ),
      namespaced(`statefulset-${short}-bare`, sets, { kind: 'StatefulSet', apiVersion, spec }),
    ]
  }),
]

const ingresses = ['ingress', 'apis/networking.k8s.io/v1', 'ingresses'] as const
const networks: readonly StoredValue[] = [
  'networking.k8s.io/v1beta1',
  'extensions/v1beta1',
].flatMap((apiVersion) => {
  const short = apiVersion.replace(/[/.]/g, '-')
  const backend = { serviceName: 's', servicePort: 80 }
  const resource = { apiGroup: 'g.example.com', kind: 'K', name: 'r' }
  return [
    namespaced(`ingress-${short}`, ingresses, { kind: 'Ingress', apiVersion, spec: { backend } }),
    namespaced(
      `ingress-${short}-rules`,
      ingresses,
      {
        kind: 'Ingress',
        apiVersion,
        spec: {
          ingressClassName: 'c',
          backend: { serviceName: 's', servicePort: 'http' },
          tls: [{ hosts: ['h'], secretName: 'x' }],
          rules: [
            { host: 'a.example.com', http: { paths: [{ path: '/a', backend }] } },
            {
              host: 'b.example.com',
              http: { paths: [{ path: '/b', pathType: 'Exact', backend: { resource } }] },
            },
            { host: 'c.example.com' },
          ],
        },
        status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
      },
      label,
    ),
    namespaced(`ingress-${short}-port-0`, ingresses, {
      kind: 'Ingress',
      apiVersion,
      spec: { backend: { serviceName: 's', servicePort: 0 } },
    }),
  ]
})

const policyOfNetwork: readonly StoredValue[] = [
  namespaced(
    'networkpolicy-extensions',
    ['networkpolicies', 'apis/networking.k8s.io/v1', 'networkpolicies'],
    {
      kind: 'NetworkPolicy',
      apiVersion: 'extensions/v1beta1',
      spec: {
        podSelector: selector,
        ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80, protocol: 'TCP' }] }],
      },
    },
  ),
  global(
    'ingressclass-v1beta1',
    ['ingressclasses', 'apis/networking.k8s.io/v1', 'ingressclasses'],
    {
      kind: 'IngressClass',
      apiVersion: 'networking.k8s.io/v1beta1',
      spec: { controller: 'example.com/c' },
    },
  ),
]

const autoscalers = [
  'horizontalpodautoscalers',
  'apis/autoscaling/v2',
  'horizontalpodautoscalers',
] as const
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }
const autoscaling: readonly StoredValue[] = [
  namespaced('hpa-v2beta1', autoscalers, {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2beta1',
    spec: {
      scaleTargetRef,
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 50 } },
        { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } },
        { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '10', selector } },
        {
          type: 'Object',
          object: { metricName: 'o', target: scaleTargetRef, targetValue: '5', selector },
        },
        {
          type: 'Object',
          object: { metricName: 'o', target: scaleTargetRef, targetValue: '0', averageValue: '7' },
        },
        {
          type: 'External',
          external: { metricName: 'e', metricSelector: selector, targetValue: '3' },
        },
        { type: 'External', external: { metricName: 'e', targetAverageValue: '4' } },
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'c', targetAverageUtilization: 60 },
        },
      ],
    },
    status: {
      currentReplicas: 2,
      desiredReplicas: 3,
      currentMetrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', currentAverageUtilization: 40, currentAverageValue: '400m' },
        },
        { type: 'Pods', pods: { metricName: 'm', currentAverageValue: '9', selector } },
        {
          type: 'Object',
          object: { metricName: 'o', target: scaleTargetRef, currentValue: '5', averageValue: '2' },
        },
        {
          type: 'External',
          external: {
            metricName: 'e',
            metricSelector: selector,
            currentValue: '3',
            currentAverageValue: '1',
          },
        },
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'c', currentAverageValue: '1' },
        },
      ],
      conditions: [{ type: 'AbleToScale', status: 'True', reason: 'r', message: 'm' }],
    },
  }),
  namespaced(
    'hpa-v2beta1-patched',
    autoscalers,
    {
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v2beta1',
      spec: {
        scaleTargetRef,
        maxReplicas: 5,
        metrics: [
          {
            type: 'Object',
            object: { metricName: 'o', target: scaleTargetRef, targetValue: '5', selector },
          },
        ],
      },
    },
    label,
  ),
  namespaced('hpa-v2beta1-bare', autoscalers, {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2beta1',
    spec: { scaleTargetRef, maxReplicas: 5 },
  }),
  namespaced(
    'hpa-v2beta2',
    autoscalers,
    {
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v2beta2',
      spec: {
        scaleTargetRef,
        maxReplicas: 5,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
          },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 5 } },
      },
      status: { currentReplicas: 2, desiredReplicas: 3, currentMetrics: null, conditions: null },
    },
    label,
  ),
  namespaced('hpa-v1', autoscalers, {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    spec: { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 70 },
  }),
  namespaced('hpa-v1-bare', autoscalers, {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    spec: { scaleTargetRef, maxReplicas: 5 },
  }),
]

const slices = ['endpointslices', 'apis/discovery.k8s.io/v1', 'endpointslices'] as const
const discovery: readonly StoredValue[] = [
  namespaced(
    'slice-v1beta1',
    slices,
    {
      kind: 'EndpointSlice',
      apiVersion: 'discovery.k8s.io/v1beta1',
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.1.2.3'],
          conditions: { ready: true },
          hostname: 'h',
          topology: {
            'kubernetes.io/hostname': 'n',
            'topology.kubernetes.io/zone': 'z',
            'topology.kubernetes.io/region': 'r',
          },
        },
        {
          addresses: ['10.1.2.4'],
          nodeName: 'm',
          topology: { 'topology.kubernetes.io/zone': 'z2' },
        },
        { addresses: ['10.1.2.5'], hints: { forZones: [{ name: 'z' }] } },
      ],
      ports: [{ port: 80 }],
    },
    label,
  ),
]

const levels = [
  'prioritylevelconfigurations',
  'apis/flowcontrol.apiserver.k8s.io/v1',
  'prioritylevelconfigurations',
] as const
const schemas = ['flowschemas', 'apis/flowcontrol.apiserver.k8s.io/v1', 'flowschemas'] as const
const flows: readonly StoredValue[] = ['v1beta1', 'v1beta2', 'v1beta3', 'v1'].flatMap((version) => {
  const apiVersion = `flowcontrol.apiserver.k8s.io/${version}`
  const kind = 'PriorityLevelConfiguration'
  const isOld = version === 'v1beta1' || version === 'v1beta2'
  const shares = isOld ? 'assuredConcurrencyShares' : 'nominalConcurrencyShares'
  const limitResponse = { type: 'Queue', queuing: { queues: 4, handSize: 2, queueLengthLimit: 10 } }
  const limited = { [shares]: 7, limitResponse, lendablePercent: 10, borrowingLimitPercent: 20 }
  const reject = { [shares]: 0, limitResponse: { type: 'Reject' } }
  return [
    global(
      `level-${version}`,
      levels,
      { kind, apiVersion, spec: { type: 'Limited', limited } },
      label,
    ),
    global(`level-${version}-bare`, levels, {
      kind,
      apiVersion,
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
    }),
    global(`level-${version}-zero`, levels, {
      kind,
      apiVersion,
      spec: { type: 'Limited', limited: reject },
    }),
    global(`level-${version}-exempt`, levels, { kind, apiVersion, spec: { type: 'Exempt' } }),
    global(`schema-${version}`, schemas, {
      kind: 'FlowSchema',
      apiVersion,
      spec: {
        priorityLevelConfiguration: { name: 'exempt' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'u' } }],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
          },
        ],
      },
    }),
  ]
})

const others: readonly StoredValue[] = [
  namespaced('cronjob-v1beta1', ['cronjobs', 'apis/batch/v1', 'cronjobs'], {
    kind: 'CronJob',
    apiVersion: 'batch/v1beta1',
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...pod.spec, restartPolicy: 'Never' } } } },
    },
  }),
  global(
    'csr-v1beta1',
    ['certificatesigningrequests', 'apis/certificates.k8s.io/v1', 'certificatesigningrequests'],
    {
      kind: 'CertificateSigningRequest',
      apiVersion: 'certificates.k8s.io/v1beta1',
      spec: { request: 'eA==', usages: ['client auth'], username: 'u' },
      status: { conditions: [{ type: 'Approved', reason: 'r', message: 'm' }] },
    },
  ),
  namespaced('lease-v1beta1', ['leases', 'apis/coordination.k8s.io/v1', 'leases'], {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1beta1',
    spec: { holderIdentity: 'h' },
  }),
  namespaced('event-v1beta1', ['events', 'api/v1', 'events'], {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1beta1',
    eventTime: '2020-01-01T00:00:00.000000Z',
    regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
    note: 'n',
    reason: 'r',
    type: 'Normal',
    deprecatedCount: 2,
    deprecatedSource: { component: 'c' },
  }),
  global('runtimeclass-v1alpha1', ['runtimeclasses', 'apis/node.k8s.io/v1', 'runtimeclasses'], {
    kind: 'RuntimeClass',
    apiVersion: 'node.k8s.io/v1alpha1',
    spec: {
      runtimeHandler: 'h',
      overhead: { podFixed: { cpu: '1' } },
      scheduling: { nodeSelector: { a: 'b' } },
    },
  }),
  global('runtimeclass-v1beta1', ['runtimeclasses', 'apis/node.k8s.io/v1', 'runtimeclasses'], {
    kind: 'RuntimeClass',
    apiVersion: 'node.k8s.io/v1beta1',
    handler: 'h',
  }),
  ...['v1alpha1', 'v1beta1'].flatMap((version) => {
    const rbac = 'rbac.authorization.k8s.io'
    const apiVersion = `${rbac}/${version}`
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'r' }
    const bindings = ['clusterrolebindings', `apis/${rbac}/v1`, 'clusterrolebindings'] as const
    const subjects =
      version === 'v1alpha1'
        ? [
            { kind: 'User', apiVersion, name: '*' },
            { kind: 'User', name: 'u' },
            { kind: 'Group', apiVersion, name: 'g' },
            { kind: 'ServiceAccount', apiVersion: 'v1', name: 's', namespace: 'n' },
          ]
        : [
            { kind: 'User', apiGroup: rbac, name: 'u' },
            { kind: 'ServiceAccount', name: 's', namespace: 'n' },
          ]
    return [
      global(`clusterrole-${version}`, ['clusterroles', `apis/${rbac}/v1`, 'clusterroles'], {
        kind: 'ClusterRole',
        apiVersion,
        rules: [
          { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] },
          { verbs: ['get'], nonResourceURLs: ['/x'] },
        ],
      }),
      global(`clusterrolebinding-${version}`, bindings, {
        kind: 'ClusterRoleBinding',
        apiVersion,
        subjects,
        roleRef,
      }),
      global(`clusterrolebinding-${version}-bare`, bindings, {
        kind: 'ClusterRoleBinding',
        apiVersion,
        subjects: [{ kind: 'User', name: 'u' }],
        roleRef: { kind: 'ClusterRole', name: 'r' },
      }),
    ]
  }),
  ...['v1alpha1', 'v1beta1'].map((version) =>
    global(
      `priorityclass-${version}`,
      ['priorityclasses', 'apis/scheduling.k8s.io/v1', 'priorityclasses'],
      {
        kind: 'PriorityClass',
        apiVersion: `scheduling.k8s.io/${version}`,
        value: 5,
      },
    ),
  ),
  global('storageclass-v1beta1', ['storageclasses', 'apis/storage.k8s.io/v1', 'storageclasses'], {
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1beta1',
    provisioner: 'p',
  }),
  ...['v1alpha1', 'v1beta1'].map((version) =>
    global(
      `volumeattachment-${version}`,
      ['volumeattachments', 'apis/storage.k8s.io/v1', 'volumeattachments'],
      {
        kind: 'VolumeAttachment',
        apiVersion: `storage.k8s.io/${version}`,
        spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } },
        status: { attached: true },
      },
    ),
  ),
  global('csidriver-v1beta1', ['csidrivers', 'apis/storage.k8s.io/v1', 'csidrivers'], {
    kind: 'CSIDriver',
    apiVersion: 'storage.k8s.io/v1beta1',
    spec: {},
  }),
  ...(['Mutating', 'Validating'] as const).map((sort) => {
    const plural = `${sort.toLowerCase()}webhookconfigurations`
    return global(
      `${sort.toLowerCase()}-v1beta1`,
      [plural, 'apis/admissionregistration.k8s.io/v1', plural],
      {
        kind: `${sort}WebhookConfiguration`,
        apiVersion: 'admissionregistration.k8s.io/v1beta1',
        webhooks: [
          {
            name: 'w.example.com',
            clientConfig: { url: 'https://h.example.com/' },
            rules: [
              {
                operations: ['CREATE'],
                apiGroups: ['none.example.com'],
                apiVersions: ['*'],
                resources: ['nothing'],
              },
            ],
          },
        ],
      },
    )
  }),
]

const aggregated: readonly StoredValue[] = [
  global(
    'v1beta9.old.example.com',
    ['apiregistration.k8s.io/apiservices', 'apis/apiregistration.k8s.io/v1', 'apiservices'],
    {
      kind: 'APIService',
      apiVersion: 'apiregistration.k8s.io/v1beta1',
      spec: {
        group: 'old.example.com',
        version: 'v1beta9',
        service: { namespace: 'n', name: 's' },
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 15,
      },
    },
    { isOnlyJson: true },
  ),
]

const services = ['services/specs', 'api/v1', 'services'] as const
const aService = (spec: Fields): Fields => ({ kind: 'Service', apiVersion: 'v1', spec })
const ports = [{ port: 80, protocol: 'TCP', targetPort: 80 }]
const source = { kind: 'PersistentVolumeClaim', name: 'other' }
const claims = ['persistentvolumeclaims', 'api/v1', 'persistentvolumeclaims'] as const
const aClaim = (spec: Fields): Fields => ({
  kind: 'PersistentVolumeClaim',
  apiVersion: 'v1',
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  status: { phase: 'Pending' },
})
const incomplete: readonly StoredValue[] = [
  namespaced(
    'service-one-address',
    services,
    aService({ clusterIP: '10.0.0.201', ports, selector: { a: 'b' } }),
    label,
  ),
  namespaced(
    'service-node-port',
    services,
    aService({
      type: 'NodePort',
      clusterIP: '10.0.0.202',
      ports: [{ ...ports[0], nodePort: 30_321 }],
      selector: { a: 'b' },
    }),
    label,
  ),
  namespaced(
    'service-headless',
    services,
    aService({ clusterIP: 'None', ports, selector: { a: 'b' } }),
    label,
  ),
  namespaced('service-headless-free', services, aService({ clusterIP: 'None', ports }), label),
  namespaced(
    'service-external',
    services,
    aService({ type: 'ExternalName', externalName: 'x.example.com' }),
    label,
  ),
  namespaced(
    'service-external-traffic',
    services,
    aService({
      type: 'ExternalName',
      externalName: 'x.example.com',
      internalTrafficPolicy: 'Cluster',
    }),
    label,
  ),
  namespaced('claim-source', claims, aClaim({ dataSource: source }), label),
  namespaced('claim-ref', claims, aClaim({ dataSourceRef: source }), label),
  namespaced(
    'claim-abroad',
    claims,
    aClaim({ dataSourceRef: { ...source, namespace: 'n' } }),
    label,
  ),
  namespaced('claim-class', claims, aClaim({ volumeAttributesClassName: 'c' }), label),
]

const pods = ['pods', 'api/v1', 'pods'] as const
const gated: readonly StoredValue[] = [
  namespaced(
    'pod-gated',
    pods,
    {
      kind: 'Pod',
      apiVersion: 'v1',
      spec: {
        resources: { limits: { cpu: '1' } },
        resourceClaims: [{ name: 'r', resourceClaimName: 'x' }],
        containers: [
          {
            name: 'c',
            image: 'i',
            resources: { claims: [{ name: 'r' }] },
            lifecycle: { stopSignal: 'SIGTERM' },
            volumeMounts: [{ name: 'v', mountPath: '/v' }],
          },
        ],
        os: { name: 'linux' },
        volumes: [
          { name: 'v', image: { reference: 'x', pullPolicy: 'Always' } },
          { name: 't', projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'p' } }] } },
        ],
      },
      status: {
        observedGeneration: 3,
        conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }],
        resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'y' }],
        containerStatuses: [
          {
            name: 'c',
            image: 'i',
            imageID: '',
            lastState: {},
            ready: true,
            restartCount: 0,
            state: {},
            allocatedResourcesStatus: [
              { name: 'x', resources: [{ resourceID: 'y', health: 'Healthy' }] },
            ],
          },
        ],
      },
    },
    label,
  ),
  namespaced(
    'lease-gated',
    ['leases', 'apis/coordination.k8s.io/v1', 'leases'],
    {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      spec: { holderIdentity: 'h', strategy: 'OldestEmulationVersion', preferredHolder: 'p' },
    },
    label,
  ),
]

export const storedValues: readonly StoredValue[] = [
  ...policies,
  ...setsOfPods,
  ...networks,
  ...policyOfNetwork,
  ...autoscaling,
  ...discovery,
  ...flows,
  ...others,
  ...aggregated,
  ...incomplete,
  ...gated,
]
