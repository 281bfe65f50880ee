/** The OpenAPI paths of a resource and their operations, derived from its entry in the registry. */
import { jsonType, protobufType, yamlType } from '../../../objects/codec/negotiate.ts'
import type { Resource, Subresource } from '../../../registry/resource.ts'
import type { OpenApiDefinitions } from './definitions.ts'
import { definition } from './fixed-schemas.ts'
import {
  capitalize,
  customName,
  definitionName,
  type GroupVersionKind,
  packageOf,
  tagOf,
  titleOf,
} from './names.ts'
import {
  anyText,
  type Method,
  type OpenApiOperation,
  type PathItem,
  pathItem,
} from './operations.ts'
import * as parameters from './parameters.ts'

const plainTypes = [jsonType, yamlType, protobufType]
const listTypes = [...plainTypes, `${jsonType};stream=watch`, `${protobufType};stream=watch`]
const customTypes = [jsonType, yamlType]
const patchTypes = ['application/json-patch+json', 'application/merge-patch+json']
const applyType = 'application/apply-patch+yaml'
const strategicType = 'application/strategic-merge-patch+json'
const anyTypes = ['*/*']

export function resourcePaths(resource: Resource, definitions: OpenApiDefinitions): PathItem[] {
  return new ResourcePaths(resource, definitions).all()
}

class ResourcePaths {
  readonly #resource: Resource
  readonly #definitions: OpenApiDefinitions
  readonly #object: string
  readonly #title: string
  /** The noun in the IDs of operations, such as `NamespacedPod` or `Node`. */
  readonly #noun: string
  readonly #root: string
  readonly #collection: string
  readonly #name: parameters.Parameter

  constructor(resource: Resource, definitions: OpenApiDefinitions) {
    const { group, version, kind, plural, isNamespaced, isCustom } = resource
    this.#resource = resource
    this.#definitions = definitions
    this.#object = isCustom ? customName(resource) : definitions.ofType(resource.shape.struct)
    this.#title = titleOf(group, version)
    this.#noun = `${isNamespaced ? 'Namespaced' : ''}${kind}`
    this.#root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    this.#collection = `${isNamespaced ? '/namespaces/{namespace}' : ''}/${plural}`
    this.#name = parameters.nameParameter(kind)
  }

  all(): PathItem[] {
    const { isNamespaced, isCustom, plural, verbs } = this.#resource
    const items = [
      pathItem(this.#root + this.#collection, this.#collectionOperations()),
      pathItem(`${this.#root}${this.#collection}/{name}`, this.#objectOperations()),
      ...this.#resource.subresources.flatMap((part) => this.#partPaths(part)),
    ]
    if (isNamespaced && verbs.includes('list')) {
      items.push(
        pathItem(`${this.#root}/${plural}`, [
          this.#list(`${this.#resource.kind}ForAllNamespaces`, []),
        ]),
      )
    }
    if (verbs.includes('watch') && !isCustom) items.push(...this.#watchPaths())
    return items.filter(({ operations }) => operations.length > 0)
  }

  #collectionOperations(): OpenApiOperation[] {
    const { verbs } = this.#resource
    const place = this.#resource.isNamespaced ? [parameters.namespaceParameter] : []
    return [
      ...(verbs.includes('deletecollection') ? [this.#deleteCollection(place)] : []),
      ...(verbs.includes('list') ? [this.#list(this.#noun, place)] : []),
      ...(verbs.includes('create') ? [this.#create(this.#object, this.#noun, place)] : []),
    ]
  }

  #objectOperations(): OpenApiOperation[] {
    const { verbs, kind } = this.#resource
    return [
      ...(verbs.includes('delete') ? [this.#delete()] : []),
      ...this.#readAndWrite({ verbs, name: this.#object, noun: this.#noun, what: kind }),
    ]
  }

  #partPaths(part: Subresource): PathItem[] {
    const path = `${this.#root}${this.#collection}/{name}/${part.name}`
    const noun = this.#noun + capitalize(part.name)
    if (part.kind.endsWith('Options')) return this.#connectPaths(part, path, noun)
    const { kind, isCustom } = this.#resource
    const gvk = { group: part.group, version: part.version, kind: part.kind }
    if (part.name === 'log') return [pathItem(path, [this.#log(noun)])]
    const name = this.#nameOf(gvk)
    const whole = { verbs: part.verbs, name, noun, what: `${part.name} of a ${kind}` }
    // In documents of custom resources, all operations reference the kind itself, even those of the
    // scale subresource.
    const shared = isCustom ? whole : { ...whole, gvk }
    const create = part.verbs.includes('create')
      ? [this.#create(name, noun, this.#place(), gvk)]
      : []
    return [pathItem(path, [...this.#readAndWrite(shared), ...create])]
  }

  /** Returns the operations get, patch and put of an object or a subresource. */
  #readAndWrite(of: {
    readonly verbs: Subresource['verbs']
    readonly name: string
    readonly noun: string
    readonly what: string
    readonly gvk?: GroupVersionKind
  }): OpenApiOperation[] {
    const { verbs, name, noun, what, gvk } = of
    const { isCustom } = this.#resource
    const operations: OpenApiOperation[] = []
    const pretty = parameters.prettyParameter
    if (verbs.includes('get')) {
      operations.push({
        ...this.#operation('get', 'get', gvk),
        id: `read${this.#title}${noun}`,
        description: `Reads the ${what}.`,
        parameters: [...this.#place(), pretty, ...(isCustom ? parameters.readParameters : [])],
        answers: [[200, name]],
      })
    }
    if (verbs.includes('patch')) {
      operations.push({
        ...this.#operation('patch', 'patch', gvk),
        id: `patch${this.#title}${noun}`,
        description: `Changes fields of the ${what}.`,
        parameters: [...this.#place(), pretty, ...parameters.patchParameters],
        body: { name: definition.patch, isRequired: true },
        consumes: isCustom ? [...patchTypes, applyType] : [...patchTypes, strategicType, applyType],
        // An apply can also create custom objects, but kube-apiserver does not document the
        // response 201 for them.
        answers: isCustom
          ? [[200, name]]
          : [
              [200, name],
              [201, name],
            ],
      })
    }
    if (verbs.includes('update')) {
      operations.push({
        ...this.#operation('put', 'put', gvk),
        id: `replace${this.#title}${noun}`,
        description: `Replaces the ${what}.`,
        parameters: [...this.#place(), pretty, ...parameters.writeParameters],
        body: { name, isRequired: true },
        answers: [
          [200, name],
          [201, name],
        ],
      })
    }
    return operations
  }

  #create(
    name: string,
    noun: string,
    place: readonly parameters.Parameter[],
    gvk?: GroupVersionKind,
  ): OpenApiOperation {
    return {
      ...this.#operation('post', 'post', gvk),
      id: `create${this.#title}${noun}`,
      description: `Creates a ${gvk?.kind ?? this.#resource.kind}.`,
      parameters: [...place, parameters.prettyParameter, ...parameters.writeParameters],
      body: { name, isRequired: true },
      answers: [
        [200, name],
        [201, name],
        [202, name],
      ],
    }
  }

  #list(noun: string, place: readonly parameters.Parameter[]): OpenApiOperation {
    const { kind, isCustom } = this.#resource
    return {
      ...this.#operation('get', 'list'),
      id: `list${this.#title}${noun}`,
      description: `Lists or watches objects of kind ${kind}.`,
      parameters: [...place, parameters.prettyParameter, ...parameters.listParameters],
      produces: isCustom ? customTypes : listTypes,
      answers: [[200, this.#listName()]],
    }
  }

  #delete(): OpenApiOperation {
    const { kind, deletion } = this.#resource
    // Deleting a namespace returns the object, because a namespace is never deleted immediately. As
    // in kube-apiserver, a Status is documented instead.
    const answer = deletion.returnsDeleted && kind !== 'Namespace' ? this.#object : this.#status()
    return {
      ...this.#operation('delete', 'delete'),
      id: `delete${this.#title}${this.#noun}`,
      description: `Deletes the ${kind}.`,
      parameters: [...this.#place(), parameters.prettyParameter, ...parameters.deleteParameters],
      body: this.#deleteOptions(),
      answers: [
        [200, answer],
        [202, answer],
      ],
    }
  }

  #deleteCollection(place: readonly parameters.Parameter[]): OpenApiOperation {
    const { kind, isCustom } = this.#resource
    const own = isCustom ? parameters.listParameters : parameters.deleteCollectionParameters
    return {
      ...this.#operation('delete', 'deletecollection'),
      id: `delete${this.#title}Collection${this.#noun}`,
      description: `Deletes all selected objects of kind ${kind}.`,
      parameters: [...place, parameters.prettyParameter, ...own],
      ...(isCustom ? {} : { body: this.#deleteOptions() }),
      answers: [[200, this.#status()]],
    }
  }

  #deleteOptions(): NonNullable<OpenApiOperation['body']> {
    return { name: this.#definitions.ofMeta('DeleteOptions'), isRequired: false }
  }

  #log(noun: string): OpenApiOperation {
    return {
      ...this.#operation('get', 'get'),
      id: `read${this.#title}${noun}`,
      description: 'Reads the log of a container.',
      parameters: [
        ...this.#place(),
        parameters.prettyParameter,
        ...(parameters.optionParameters.get('PodLogOptions') ?? []),
      ],
      produces: ['text/plain', ...plainTypes],
      answers: [[200, anyText]],
    }
  }

  /**
   * Returns the paths of a connect subresource. OpenAPI cannot describe the protocol of the
   * connection. A proxy subresource has operations for all methods, and an additional path for
   * requests that name a path on the backend.
   */
  #connectPaths(part: Subresource, path: string, noun: string): PathItem[] {
    const isProxy = part.name === 'proxy'
    const methods: readonly Method[] = isProxy ? everyMethod : ['get', 'post']
    const own = [...this.#place(), ...(parameters.optionParameters.get(part.kind) ?? [])]
    const gvk = { group: part.group, version: part.version, kind: part.kind }
    const connect = (
      method: Method,
      end: string,
      more: readonly parameters.Parameter[],
    ): OpenApiOperation => ({
      ...this.#operation(method, 'connect', gvk),
      id: `connect${this.#title}${capitalize(method)}${noun}${end}`,
      description: `Connects to ${part.name} of a ${this.#resource.kind}.`,
      parameters: [...own, ...more],
      produces: anyTypes,
      answers: [[200, anyText]],
    })
    const plain = pathItem(
      path,
      methods.map((method) => connect(method, '', [])),
    )
    if (!isProxy) return [plain]
    const deep = methods.map((method) => connect(method, 'WithPath', [parameters.proxiedPath]))
    return [plain, pathItem(`${path}/{path}`, deep)]
  }

  /** Returns the deprecated watch paths. */
  #watchPaths(): PathItem[] {
    const { isNamespaced, kind, plural } = this.#resource
    const place = isNamespaced ? [parameters.namespaceParameter] : []
    const watch = (
      noun: string,
      action: string,
      own: readonly parameters.Parameter[],
    ): OpenApiOperation => ({
      ...this.#operation('get', action),
      id: `watch${this.#title}${noun}`,
      description: `Watches objects of kind ${kind}. Deprecated: use a list with the parameter watch instead.`,
      parameters: [...own, parameters.prettyParameter, ...parameters.listParameters],
      produces: listTypes,
      answers: [[200, definition.watchEvent]],
    })
    const root = `${this.#root}/watch`
    const items = [
      pathItem(root + this.#collection, [watch(`${this.#noun}List`, 'watchlist', place)]),
      pathItem(`${root}${this.#collection}/{name}`, [watch(this.#noun, 'watch', this.#place())]),
    ]
    if (isNamespaced)
      items.push(
        pathItem(`${root}/${plural}`, [watch(`${kind}ListForAllNamespaces`, 'watchlist', [])]),
      )
    return items
  }

  /** Returns the fields that every operation has, such as its media types. */
  #operation(method: Method, action: string, gvk?: GroupVersionKind) {
    const { group, version, kind, isCustom } = this.#resource
    return {
      method,
      action,
      tag: tagOf(group, version),
      kind: gvk ?? { group, version, kind },
      produces: isCustom ? customTypes : plainTypes,
      consumes: isCustom ? customTypes : anyTypes,
    }
  }

  /** Returns the parameters of a path to one object. */
  #place(): parameters.Parameter[] {
    return this.#resource.isNamespaced ? [this.#name, parameters.namespaceParameter] : [this.#name]
  }

  #status(): string {
    return this.#definitions.ofMeta('Status')
  }

  /**
   * Returns the definition of a subresource's kind: that of the object itself, or of a built-in
   * kind such as Scale.
   */
  #nameOf(gvk: GroupVersionKind): string {
    if (gvk.kind === this.#resource.kind) return this.#object
    return this.#definitions.find(packageOf(gvk), gvk.kind) ?? this.#object
  }

  #listName(): string {
    const { group, version, listKind, isCustom, shape } = this.#resource
    const gvk = { group, version, kind: listKind }
    const listName = isCustom
      ? customName(gvk)
      : definitionName({ ...shape.struct, name: listKind })
    return isCustom ? listName : this.#definitions.ofList(gvk, { listName, item: this.#object })
  }
}

const everyMethod: readonly Method[] = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put']
