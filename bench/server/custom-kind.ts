/**
 * A custom kind of realistic size, and a valid object of it. The kind has 200 fields of all types
 * and ten validation rules. Six of its fields have the same schema.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
type Schema = { readonly [keyword: string]: Json }

const group = 'bench.example.com'
const plural = 'platforms'

export const customPath = (namespace: string): string =>
  `/apis/${group}/v1/namespaces/${namespace}/${plural}`
export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const label = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'
const quantity = '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$'

const text = (more: Schema = {}): Schema => ({ type: 'string', maxLength: 256, ...more })
const whole = (minimum: number, maximum: number, more: Schema = {}): Schema => ({
  type: 'integer',
  format: 'int32',
  minimum,
  maximum,
  ...more,
})
const fields = (properties: { readonly [name: string]: Schema }, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
})
const list = (items: Schema, more: Schema = {}): Schema => ({
  type: 'array',
  maxItems: 16,
  items,
  ...more,
})
const map = (values: Schema): Schema => ({
  type: 'object',
  maxProperties: 32,
  additionalProperties: values,
})

const intOrString: Schema = { 'x-kubernetes-int-or-string': true }
const amount: Schema = {
  ...intOrString,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern: quantity,
}

/** Schema of 27 fields that several fields of the object share. */
const part: Schema = fields(
  {
    image: text({ pattern: '^[a-z0-9./-]+(:[A-Za-z0-9_.-]+)?$' }),
    pullPolicy: text({ enum: ['Always', 'IfNotPresent', 'Never'], default: 'IfNotPresent' }),
    command: list(text()),
    args: list(text()),
    workingDir: text({ pattern: '^/' }),
    replicas: whole(0, 1000, { default: 1 }),
    port: intOrString,
    protocol: text({ enum: ['TCP', 'UDP', 'SCTP'], default: 'TCP' }),
    labels: map(text({ maxLength: 63 })),
    env: list(fields({ name: text({ minLength: 1 }), value: text() }, { required: ['name'] }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
    resources: fields({ limits: map(amount), requests: map(amount) }),
    probe: fields({
      path: text({ pattern: '^/', default: '/healthz' }),
      port: intOrString,
      periodSeconds: whole(1, 3600, { default: 10 }),
      timeoutSeconds: whole(1, 3600, { default: 1 }),
      failureThreshold: whole(1, 100, { default: 3 }),
    }),
    weight: { type: 'number', minimum: 0, maximum: 1 },
    isEnabled: { type: 'boolean', default: true },
    host: text({ format: 'hostname' }),
    endpoint: text({ format: 'uri' }),
    notBefore: { type: 'string', format: 'date-time' },
    timeout: { type: 'string', format: 'duration' },
  },
  { required: ['image'] },
)

const condition = fields(
  {
    type: text({ pattern: '^[A-Za-z]+$' }),
    status: text({ enum: ['True', 'False', 'Unknown'] }),
    reason: text(),
    message: text({ maxLength: 32768 }),
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
  },
  { required: ['type', 'status'] },
)

const rule = (expression: string, more: Schema = {}): Schema => ({ rule: expression, ...more })

const specRules = [
  rule('self.minReplicas <= self.replicas', { message: 'fewer replicas than the minimum' }),
  rule('self.replicas <= self.maxReplicas', {
    messageExpression: "'too many for storage of class ' + self.storage.className",
    reason: 'FieldValueInvalid',
    fieldPath: '.replicas',
  }),
  rule('!has(self.tls) || self.tls.secretName != ""'),
  rule('self.hosts.all(host, host.endsWith(".example.com"))'),
  rule('self.ports.all(one, self.ports.exists_one(other, other.name == one.name))'),
  rule('has(self.web) && self.web.image.split(":").size() == 2'),
  rule('!has(self.web.probe) || self.web.probe.timeoutSeconds <= self.web.probe.periodSeconds'),
  rule('quantity(self.storage.size).isGreaterThan(quantity("1Gi"))'),
]

/**
 * Schema of the custom kind. The rules above apply to `spec`. Two more rules are defined here: one
 * for a field that never changes, and one for the whole object.
 */
const schema: Schema = fields(
  {
    spec: fields(
      {
        replicas: whole(0, 1000, { default: 1 }),
        minReplicas: whole(0, 1000, { default: 1 }),
        maxReplicas: whole(0, 1000, { default: 10 }),
        hosts: list(text({ format: 'hostname' }), { 'x-kubernetes-list-type': 'set' }),
        ports: list(fields({ name: text({ pattern: label }), number: whole(1, 65535) }), {
          maxItems: 10,
        }),
        tls: fields({
          secretName: text(),
          minVersion: text({ enum: ['1.2', '1.3'], default: '1.3' }),
        }),
        storage: fields({
          size: text({ pattern: quantity, maxLength: 20 }),
          className: text({
            'x-kubernetes-validations': [rule('self == oldSelf', { message: 'is immutable' })],
          }),
        }),
        selector: map(text({ maxLength: 63 })),
        serviceAccountName: text({ maxLength: 63, pattern: label }),
        isPaused: { type: 'boolean', default: false },
        revisionHistoryLimit: whole(0, 100, { default: 10 }),
        update: fields({
          type: text({ enum: ['Rolling', 'Recreate'], default: 'Rolling' }),
          maxSurge: intOrString,
        }),
        web: part,
        worker: part,
        cache: part,
        database: part,
        gateway: part,
        batch: part,
      },
      { required: ['hosts', 'ports', 'storage'], 'x-kubernetes-validations': specRules },
    ),
    status: fields({
      phase: text({ enum: ['Pending', 'Ready', 'Failed'] }),
      readyReplicas: whole(0, 1000),
      observedGeneration: { type: 'integer', format: 'int64' },
      conditions: list(condition, {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    }),
  },
  { 'x-kubernetes-validations': [rule('self.metadata.name.size() <= 63')] },
)

export const definition = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: { plural, kind: 'Platform' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: { status: {} },
      },
    ],
  },
})

const examplePart = (name: string): Json => ({
  image: `registry.example.com/platform/${name}:v1.33.4`,
  command: [`/usr/local/bin/${name}`, '--config', '/etc/platform/config.yaml'],
  args: ['--verbose=2', '--listen=0.0.0.0:8080'],
  workingDir: '/var/lib/platform',
  replicas: 3,
  port: 'http',
  labels: {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/part-of': 'platform',
    tier: 'standard',
  },
  env: [
    { name: 'LOG_FORMAT', value: 'json' },
    { name: 'LOG_LEVEL', value: 'info' },
    { name: 'REGION', value: 'north-1' },
  ],
  resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: 1, memory: '256Mi' } },
  probe: { port: 8080, periodSeconds: 5 },
  weight: 0.25,
  host: `${name}.example.com`,
  endpoint: `https://${name}.example.com/api`,
  notBefore: '2026-01-01T00:00:00Z',
  timeout: '1m30s',
})

export const customObject = (
  metadata: { readonly name: string } | { readonly generateName: string },
): string =>
  JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: 'Platform',
    metadata,
    spec: {
      replicas: 3,
      minReplicas: 2,
      hosts: ['www.example.com', 'api.example.com', 'static.example.com'],
      ports: [
        { name: 'http', number: 80 },
        { name: 'https', number: 443 },
        { name: 'metrics', number: 9090 },
      ],
      tls: { secretName: 'platform-tls' },
      storage: { size: '20Gi', className: 'fast' },
      selector: { app: 'platform' },
      serviceAccountName: 'platform',
      update: { maxSurge: '25%' },
      web: examplePart('web'),
      worker: examplePart('worker'),
      cache: examplePart('cache'),
    },
  })
