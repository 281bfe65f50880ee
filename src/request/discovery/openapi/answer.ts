/** Serves OpenAPI documents: media types, caching and redirects. */
import type { RequestContext } from '../../../api/context.ts'
import { pageNotFound } from '../../../api/errors.ts'
import {
  type ApiRequest,
  type ApiResponse,
  elementsOf,
  firstHeader,
  type Headers,
} from '../../../api/request.ts'
import { jsonType, preferredType } from '../../../objects/codec/negotiate.ts'
import { conditional, httpDate } from './conditional.ts'
import { encodeV2, encodeV3 } from './gnostic.ts'
import type { RemoteDocuments } from '../remote/remote-documents.ts'
import { CachedDocument, OpenApiLibrary } from './library.ts'

/**
 * Time for which clients can cache a document whose URL contains its hash. Such a document never
 * changes.
 */
const IMMUTABLE_MS = 365 * 24 * 60 * 60 * 1000

const v3Root = '/openapi/v3'

export class OpenApi {
  readonly #library: OpenApiLibrary
  readonly #wallMs: () => number
  readonly #remote: RemoteDocuments | undefined
  readonly #converted = new WeakMap<object, CachedDocument>()
  #indexed: { readonly mark: string; readonly body: Buffer } | undefined

  constructor(
    parts: ConstructorParameters<typeof OpenApiLibrary>[0] & {
      readonly remote?: RemoteDocuments | undefined
    },
  ) {
    this.#library = new OpenApiLibrary(parts)
    this.#wallMs = parts.clock.wallMs
    this.#remote = parts.remote
  }

  /** Serves a request. All methods get the same response as GET. */
  async answer(request: ApiRequest, context: RequestContext): Promise<ApiResponse> {
    const { path } = request
    if (path === '/openapi/v2') return this.#v2(request)
    if (path === v3Root) return this.#index(request)
    if (path.startsWith(`${v3Root}/`))
      return this.#v3(request, context, path.slice(v3Root.length + 1))
    throw pageNotFound()
  }

  async #v2(request: ApiRequest): Promise<ApiResponse> {
    const vary = { vary: 'Accept-Encoding, Accept' }
    const type = chosenType(request, 'v2')
    if (type === undefined) return bare(406, vary)
    const kept = await this.#library.v2()
    const { hash, modifiedMs } = kept.edition
    const headers = { ...vary, 'content-type': type, etag: `"${hash}"` }
    if (type !== jsonType)
      return conditional(request, { headers, body: await kept.protobuf(encodeV2), modifiedMs })
    const isWhole = firstHeader(request.headers, 'range') === undefined
    if (!isWhole || !takesGzip(request))
      return conditional(request, { headers, body: kept.json, modifiedMs })
    const zipped = { ...headers, 'content-encoding': 'gzip' }
    return conditional(request, { headers: zipped, body: await kept.gzipped(), modifiedMs })
  }

  /**
   * Serves the index of the v3 documents. As in kube-apiserver, its content type is the one that Go
   * detects. If-Modified-Since is ignored, because the index can change twice within a second.
   */
  async #index(request: ApiRequest): Promise<ApiResponse> {
    const { 'if-modified-since': _, ...asked } = request.headers
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    return conditional(
      { headers: asked },
      { headers, body: await this.#indexBody(), modifiedMs: this.#wallMs() },
    )
  }

  async #indexBody(): Promise<Buffer> {
    const { mark } = this.#library
    if (this.#indexed?.mark === mark) return this.#indexed.body
    const urls = new Map(this.#remote?.openApi.urls())
    for (const key of this.#library.keys) {
      if (this.#isRemote(key)) continue
      const edition = await this.#library.edition(key)
      if (edition !== undefined) urls.set(key, urlOf(key, edition.hash))
    }
    const sorted = [...urls].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const paths = Object.fromEntries(
      sorted.map(([key, serverRelativeURL]) => [key, { serverRelativeURL }]),
    )
    const body = Buffer.from(JSON.stringify({ paths }))
    this.#indexed = { mark, body }
    return body
  }

  async #v3(request: ApiRequest, context: RequestContext, key: string): Promise<ApiResponse> {
    const kept = this.#isRemote(key) ? undefined : await this.#library.v3(key)
    if (kept === undefined) return this.#remoteV3(request, context, key)
    return this.#kept(request, key, kept)
  }

  /**
   * Whether a remote server serves the API that the document describes. The document then also
   * comes from that server.
   */
  #isRemote(key: string): boolean {
    return this.#remote?.openApi.owns(key) ?? false
  }

  /**
   * Serves the document of a remote server. The request is forwarded, unless this server has
   * converted the document from OpenAPI v2.
   */
  async #remoteV3(request: ApiRequest, context: RequestContext, key: string): Promise<ApiResponse> {
    const found = this.#remote?.openApi.find(key)
    if (this.#remote === undefined || found === undefined) return bare(404, {})
    const { service, converted } = found
    if (converted === undefined) return this.#remote.handOn(service, request, context)
    const known = this.#converted.get(converted) ?? new CachedDocument(converted.json, converted)
    this.#converted.set(converted, known)
    return this.#kept(request, key, known)
  }

  async #kept(request: ApiRequest, key: string, kept: CachedDocument): Promise<ApiResponse> {
    const type = chosenType(request, 'v3')
    if (type === undefined) return bare(406, { vary: 'Accept' })
    const { hash, modifiedMs } = kept.edition
    const headers = { vary: 'Accept', 'content-type': type, etag: `"${hash}"` }
    const asked = request.query.get('hash') ?? ''
    if (asked !== '' && asked !== hash) return bare(301, { ...headers, location: urlOf(key, hash) })
    const caching: Headers =
      asked === ''
        ? {}
        : { 'cache-control': 'public, immutable', expires: httpDate(this.#wallMs() + IMMUTABLE_MS) }
    const body = type === jsonType ? kept.json : await kept.protobuf(encodeV3)
    return conditional(request, { headers: { ...headers, ...caching }, body, modifiedMs })
  }
}

const urlOf = (key: string, hash: string): string => `${v3Root}/${key}?hash=${hash}`

const bare = (status: number, headers: Headers): ApiResponse => ({
  status,
  headers,
  body: Buffer.alloc(0),
})

/**
 * Returns the media type of the response. The protobuf encoding has two names. The older name is
 * not a valid media type, so a request for it gets a response with the newer name.
 */
function chosenType({ headers }: ApiRequest, version: 'v2' | 'v3'): string | undefined {
  const protobuf = `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`
  const older = `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`
  const accept = firstHeader(headers, 'accept') ?? ''
  const chosen = accept === '' ? jsonType : preferredType(accept, [jsonType, protobuf, older])
  return chosen === older ? protobuf : chosen
}

const takesGzip = ({ headers }: ApiRequest): boolean =>
  elementsOf(firstHeader(headers, 'accept-encoding') ?? '').some((clause) =>
    /^\s*(gzip|\*)\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/.test(clause),
  )
