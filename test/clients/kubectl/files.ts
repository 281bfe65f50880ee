/** Files that the kubectl commands read, in kubectl's working directory. */

const yaml = (text: TemplateStringsArray): string => text.join('').replace(/^\n/, '')

/** File contents by file name. */
export const files: Readonly<Record<string, string>> = {
  'deployment.yaml': yaml`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1.27", ports: [{containerPort: 80}], resources: {requests: {cpu: 100m}}}
`,
  'deployment-more.yaml': yaml`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web, tier: front}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1.28", ports: [{containerPort: 80}]}
      - {name: side, image: "busybox:1"}
`,
  'pods.yaml': yaml`
apiVersion: v1
kind: Pod
metadata: {name: alpha, labels: {app: web, tier: front}}
spec: {nodeName: one, terminationGracePeriodSeconds: 0, containers: [{name: main, image: "nginx:1.27"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: beta, labels: {app: web}}
spec: {terminationGracePeriodSeconds: 0, priority: 0, containers: [{name: main, image: "nginx:1.26"}, {name: side, image: "busybox:1"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gamma, labels: {app: db}}
spec: {nodeName: two, terminationGracePeriodSeconds: 0, containers: [{name: main, image: "postgres:17"}], volumes: [{name: v, emptyDir: {}}]}
`,
  'nodes.yaml': yaml`
apiVersion: v1
kind: Node
metadata: {name: one, labels: {zone: a}}
spec: {}
---
apiVersion: v1
kind: Node
metadata: {name: two, labels: {zone: b}}
spec: {}
`,
  'config.yaml': yaml`
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {part: settings}}
data: {colour: blue, size: "1"}
`,
  'config-changed.yaml': yaml`
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {part: settings}}
data: {colour: green, weight: "2"}
`,
  'config-numbers.yaml': yaml`
apiVersion: v1
kind: ConfigMap
metadata: {name: numbers}
data: {one: 1}
`,
  'config-unknown-field.yaml': yaml`
apiVersion: v1
kind: ConfigMap
metadata: {name: unknown-field, labls: {a: b}}
date: {a: b}
`,
  'unknown-kind.yaml': yaml`
apiVersion: example.test/v1
kind: Nothing
metadata: {name: nothing}
`,
  'pruned-1.yaml': yaml`
apiVersion: v1
kind: ConfigMap
metadata: {name: pruned-a, labels: {set: pruned}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: pruned-b, labels: {set: pruned}}
`,
  'pruned-2.yaml': yaml`
apiVersion: v1
kind: ConfigMap
metadata: {name: pruned-a, labels: {set: pruned}}
data: {a: b}
`,
  'definition.yaml': yaml`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.harbour.test}
spec:
  group: harbour.test
  scope: Namespaced
  names: {kind: Boat, plural: boats, singular: boat, shortNames: [bt], categories: [all, ships]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.crew, statusReplicasPath: .status.crew}}
    additionalPrinterColumns:
    - {name: Crew, type: integer, jsonPath: .spec.crew, description: How many sail it}
    - {name: Flag, type: string, jsonPath: .spec.flag, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A boat is what sails.
        properties:
          spec:
            type: object
            description: What is wanted of the boat.
            required: [crew]
            x-kubernetes-validations: [{rule: "self.crew < 100", message: too many}]
            properties:
              crew: {type: integer, minimum: 0, description: How many sail it.}
              flag: {type: string, enum: [red, blue], default: red}
              holds: {type: array, items: {type: object, properties: {name: {type: string}}}}
          status:
            type: object
            properties: {crew: {type: integer}, conditions: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`,
  'boat.yaml': yaml`
apiVersion: harbour.test/v1
kind: Boat
metadata: {name: argo}
spec: {crew: 50}
`,
  'boat-wrong.yaml': yaml`
apiVersion: harbour.test/v1
kind: Boat
metadata: {name: wrong}
spec: {crew: 200, flag: green, unknown: 1}
`,
  'rbac.yaml': yaml`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods, configmaps], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
`,
  'rbac-more.yaml': yaml`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods, configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: nodes-reader}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
`,
  'replicasets.yaml': yaml`
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: rolled-1
  labels: {app: rolled, pod-template-hash: "1"}
  annotations: {deployment.kubernetes.io/revision: "1", kubernetes.io/change-cause: first}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: rolled, uid: UID, controller: true}]
spec:
  replicas: 0
  selector: {matchLabels: {app: rolled, pod-template-hash: "1"}}
  template: {metadata: {labels: {app: rolled, pod-template-hash: "1"}}, spec: {containers: [{name: rolled, image: "nginx:1"}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: rolled-2
  labels: {app: rolled, pod-template-hash: "2"}
  annotations: {deployment.kubernetes.io/revision: "2"}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: rolled, uid: UID, controller: true}]
spec:
  replicas: 1
  selector: {matchLabels: {app: rolled, pod-template-hash: "2"}}
  template: {metadata: {labels: {app: rolled, pod-template-hash: "2"}}, spec: {containers: [{name: rolled, image: "nginx:2"}]}}
`,
  'sets.yaml': yaml`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: base}
spec:
  serviceName: base
  selector: {matchLabels: {app: base}}
  template: {metadata: {labels: {app: base}}, spec: {containers: [{name: main, image: "postgres:17"}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: main, image: "agent:1"}]}}
`,
  'requests.yaml': yaml`
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: one}
spec:
  signerName: example.test/signer
  usages: [client auth]
  request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYU1JR0FBZ0VBTUI0eEREQUtCZ05WQkFvTUEyUmxkakVPTUF3R0ExVUVBd3dGWVhOclpYSXdXVEFUQmdjcQpoa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVNvTDVMbEErVHNuWElCejhwMmRSWVZ0TS8vSHJjakxVSEY3LzNnCjEyQU1jRWZBYkJhZTg1WlZCaWw0ZSthVEdEM1JYTGx0R1FHdkJVc25NeHh2ZnpqWG9BQXdDZ1lJS29aSXpqMEUKQXdJRFNRQXdSZ0loQU4xbUlJeUsvakVhVzluOHNCNVA1YlFjZThNWmRpd0FWV0doNXNHdVJRaCtBaUVBMmZuQwpuS0dVVlBreERwc2Nlb3lpYTFwR0tlbFVSRDNKYXptejY2MzhNZTQ9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=
---
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: two}
spec:
  signerName: example.test/signer
  usages: [client auth]
  request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYU1JR0FBZ0VBTUI0eEREQUtCZ05WQkFvTUEyUmxkakVPTUF3R0ExVUVBd3dGWVhOclpYSXdXVEFUQmdjcQpoa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVNvTDVMbEErVHNuWElCejhwMmRSWVZ0TS8vSHJjakxVSEY3LzNnCjEyQU1jRWZBYkJhZTg1WlZCaWw0ZSthVEdEM1JYTGx0R1FHdkJVc25NeHh2ZnpqWG9BQXdDZ1lJS29aSXpqMEUKQXdJRFNRQXdSZ0loQU4xbUlJeUsvakVhVzluOHNCNVA1YlFjZThNWmRpd0FWV0doNXNHdVJRaCtBaUVBMmZuQwpuS0dVVlBreERwc2Nlb3lpYTFwR0tlbFVSRDNKYXptejY2MzhNZTQ9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=
`,
  'event.yaml': yaml`
apiVersion: v1
kind: Event
metadata: {name: told.1}
involvedObject: {apiVersion: v1, kind: Pod, name: alpha, namespace: work}
reason: Pulled
message: Container image was pulled
type: Normal
count: 3
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:10Z"
source: {component: kubelet, host: one}
---
apiVersion: v1
kind: Event
metadata: {name: told.2}
involvedObject: {apiVersion: apps/v1, kind: Deployment, name: web, namespace: work}
reason: Failed
message: It did not work
type: Warning
lastTimestamp: "2026-01-01T00:01:00Z"
source: {component: deployment-controller}
`,
  'kustomization.yaml': yaml`
namePrefix: k-
namespace: work
commonLabels: {made: kustomize}
resources: [config.yaml]
configMapGenerator:
- {name: generated, literals: [a=b]}
`,
  'patch.yaml': yaml`
metadata: {annotations: {patched: from a file}}
`,
  'values.env': 'A=1\nB=two\n',
  'plain.txt': 'some text\n',
  'list.yaml': yaml`
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: listed-a}}
- {apiVersion: v1, kind: Secret, metadata: {name: listed-b}, stringData: {password: hidden}}
`,
}
