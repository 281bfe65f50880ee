/**
 * The objects of one test: a namespace, webhooks that match only its contents, and custom
 * resources. Configurations and definitions are deleted when the scope is disposed of.
 */
import assert from 'node:assert/strict'
import { type Fields, textOf } from '../../../src/api/object.ts'
import { type Answer, dataOf, definitions, type Fixture, messageOf, type Reach } from './fixture.ts'

/** A webhook, without the fields that all webhooks share. */
export type WebhookRegistration = {
  readonly path: string
  readonly rules: readonly Fields[]
  readonly reach?: Reach
  readonly more?: Fields
}

export const rule = (
  operations: readonly string[],
  group: string,
  resources: readonly string[],
): Fields => ({
  operations,
  apiGroups: [group],
  apiVersions: ['*'],
  resources,
})

export const onConfigMaps = [rule(['CREATE'], '', ['configmaps'])]

export class Scope implements AsyncDisposable {
  readonly fixture: Fixture
  /**
   * Name of the namespace. The label that the webhooks select and the first configuration have the
   * same name.
   */
  readonly name: string
  readonly configMaps: string
  readonly #ended: { readonly path: string }[] = []

  private constructor(fixture: Fixture, name: string) {
    this.fixture = fixture
    this.name = name
    this.configMaps = `/api/v1/namespaces/${name}/configmaps`
  }

  static async begin(fixture: Fixture): Promise<Scope> {
    const name = fixture.unique()
    await fixture.newNamespace(name, { [name]: 'true' })
    return new Scope(fixture, name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { path } of this.#ended) await this.fixture.call({ method: 'DELETE', path })
  }

  webhook(name: string, { path, rules, reach, more = {} }: WebhookRegistration): Fields {
    return {
      name: `${name}.example.com`,
      clientConfig: this.fixture.clientConfig(path, reach),
      rules,
      sideEffects: 'None',
      admissionReviewVersions: ['v1', 'v1beta1'],
      namespaceSelector: { matchLabels: { [this.name]: 'true' } },
      ...more,
    }
  }

  /**
   * Creates a webhook configuration, and waits until it is in effect. For this purpose, the
   * configuration gets one more webhook, which denies ConfigMaps with a certain label.
   */
  async register(
    collection: string,
    webhooks: readonly Fields[],
    metadata: Fields = {},
  ): Promise<Fields> {
    const { name = this.name } = metadata
    const label = `${textOf(name)}-marker`
    const marker = this.webhook('marker', {
      path: '/denies',
      rules: onConfigMaps,
      more: { objectSelector: { matchLabels: { [label]: 'true' } }, namespaceSelector: {} },
    })
    const body = { metadata: { ...metadata, name }, webhooks: [...webhooks, marker] }
    const made = await this.fixture.write({ method: 'POST', path: collection, body })
    this.#ended.push({ path: `${collection}/${textOf(name)}` })
    await this.fixture.until(`${textOf(name)} is in force`, async () => {
      const labels = { [label]: 'true' }
      const path = '/api/v1/namespaces/default/configmaps?dryRun=All'
      const answer = await this.fixture.call({
        method: 'POST',
        path,
        body: { metadata: { name: 'm', labels } },
      })
      return messageOf(answer).includes('denied')
    })
    return made
  }

  createConfigMap(name: string, data: Fields = {}): Promise<Answer> {
    return this.fixture.call({
      method: 'POST',
      path: this.configMaps,
      body: { metadata: { name }, data },
    })
  }

  /** Creates ConfigMaps with this data and deletes them, until a response meets the condition. */
  async untilConfigMap(
    data: Fields,
    what: string,
    isSo: (answer: Answer) => boolean,
  ): Promise<void> {
    await this.fixture.until(what, async () => {
      const name = this.fixture.unique()
      const answer = await this.createConfigMap(name, data)
      if (answer.status === 201)
        await this.fixture.write({ method: 'DELETE', path: `${this.configMaps}/${name}` })
      else assert.match(messageOf(answer), /denied/)
      return isSo(answer)
    })
  }

  /** Reads an object, changes it and writes it back. */
  async update(path: string, change: (object: Fields) => Fields): Promise<Answer> {
    const { body } = await this.fixture.call({ path })
    return this.fixture.call({ method: 'PUT', path, body: change(body) })
  }

  /** Defines a kind with its own API group, and waits until all versions are served. */
  async define(versions: readonly Fields[], spec: Fields = {}): Promise<Custom> {
    const group = `${this.name}.example.com`
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
    const path = `${definitions}/widgets.${group}`
    const body = {
      metadata: { name: `widgets.${group}` },
      spec: { group, scope: 'Namespaced', names, versions, ...spec },
    }
    await this.fixture.write({ method: 'POST', path: definitions, body })
    this.#ended.push({ path })
    const custom = new Custom(this, group, path)
    for (const { name } of versions) await custom.served(textOf(name))
    return custom
  }
}

/** The custom resource of a test. */
export class Custom {
  readonly group: string
  readonly definition: string
  readonly #scope: Scope

  constructor(scope: Scope, group: string, definition: string) {
    this.#scope = scope
    this.group = group
    this.definition = definition
  }

  path(version: string, name?: string): string {
    const { name: namespace } = this.#scope
    return `/apis/${this.group}/${version}/namespaces/${namespace}/widgets${name === undefined ? '' : `/${name}`}`
  }

  object(version: string, name: string, fields: Fields): Fields {
    return { apiVersion: `${this.group}/${version}`, kind: 'Widget', metadata: { name }, ...fields }
  }

  create(version: string, name: string, fields: Fields): Promise<Answer> {
    const body = this.object(version, name, fields)
    return this.#scope.fixture.call({ method: 'POST', path: this.path(version), body })
  }

  served(version: string): Promise<void> {
    return this.#scope.fixture.until(
      `${version} is served`,
      async () => (await this.#scope.fixture.call({ path: this.path(version) })).status === 200,
    )
  }
}

export const forbiddenData = { 'webhook-test': 'forbidden' } as const
export const isDenied = (answer: Answer): boolean => messageOf(answer).includes('denied')
export const isCreated = ({ status }: Answer): boolean => status === 201
export const isMutated = (answer: Answer): boolean => dataOf(answer.body)['stage-1'] !== undefined

/** Returns one version of a CustomResourceDefinition. Its schema preserves all unknown fields. */
export const open = (name: string, storage: boolean): Fields => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})
