/** Search at the host: the active source, incidents, clusters and scenarios, the best matches of each. */
import type { Found, FoundKind } from '#core/api/search.ts'
import type { GalleryEntry } from '#core/api/sandbox.ts'
import { searchWords } from '#core/search/match.ts'
import type { ClusterService } from '../clusters/cluster-service.ts'
import type { IncidentService } from '../incidents/incident-service.ts'
import type { ActiveView } from '../active-view.ts'
import type { SandboxService } from '../sandbox/sandbox-service.ts'
import { hitsOf, jobHits, nodeHits, ownerHits, ruleHits, targetHits, type Hits, type Search } from './subjects.ts'

export interface SearchParts {
  readonly onScreen: ActiveView
  readonly clusters: ClusterService
  readonly incidents: IncidentService
  readonly sandbox: SandboxService
}

/** Cache time of the gallery: listing it reads every scenario. */
const GALLERY_MS = 10_000

export class SearchService {
  readonly #parts: SearchParts
  #gallery: { readonly entries: readonly GalleryEntry[]; readonly readMs: number } | undefined

  constructor(parts: SearchParts) {
    this.#parts = parts
  }

  find(text: string, limit: number): { found: Found[]; more: Partial<Record<FoundKind, number>> } {
    const search: Search = { terms: searchWords(text), limit }
    if (search.terms.length === 0) return { found: [], more: {} }
    const { viewed, reader } = this.#parts.onScreen.views.searched()
    const kinds: readonly (readonly [FoundKind, Hits])[] = [
      ['job', jobHits(search, viewed, reader)],
      ['rule', ruleHits(search, viewed)],
      ['target', targetHits(search, viewed)],
      ['node', nodeHits(search, viewed)],
      ['user', ownerHits(search, viewed, 'user')],
      ['account', ownerHits(search, viewed, 'account')],
      ['incident', this.#incidents(search)],
      ['cluster', this.#clusters(search)],
      ['scenario', this.#scenarios(search)],
    ]
    return {
      found: kinds.flatMap(([, hits]) => hits.found),
      more: Object.fromEntries(
        kinds.filter(([, hits]) => hits.total > hits.found.length).map(([kind, hits]) => [kind, hits.total]),
      ),
    }
  }

  #incidents(search: Search): Hits {
    return hitsOf(
      search,
      this.#parts.incidents.notebooks.list(),
      ({ id, title, cluster }) => [id, title, cluster],
      ({ id, title, status }) => ({ kind: 'incident', id, title, status }),
    )
  }

  #clusters(search: Search): Hits {
    const { clusters } = this.#parts
    const all = clusters.list.map(({ cluster: { input, servers } }) => ({
      name: input.name,
      env: input.env,
      hosts: servers.map((s) => s.input.host),
    }))
    const { source } = clusters.emulator.monitor
    const every = [...all, { name: source.cluster, env: clusters.emulator.facts.env, hosts: [] }]
    return hitsOf(
      search,
      every,
      ({ name, hosts }) => [name, ...hosts],
      ({ name, env, hosts }) => ({
        kind: 'cluster',
        name,
        env,
        via: hosts.find((host) => search.terms.some((term) => host.toLowerCase().includes(term))) ?? '',
      }),
    )
  }

  #scenarios(search: Search): Hits {
    const nowMs = Date.now()
    if (!this.#gallery || Math.abs(nowMs - this.#gallery.readMs) > GALLERY_MS)
      this.#gallery = { entries: this.#parts.sandbox.gallery(), readMs: nowMs }
    return hitsOf(
      search,
      this.#gallery.entries,
      ({ title, id }) => [title, id],
      ({ id, title, own }) => ({ kind: 'scenario', id, title, own }),
    )
  }
}
