/** Navigation to the view of a named thing, with it selected. */
import { useRouter } from 'vue-router'
import type { Found } from '#core/api/search.ts'
import type { GoTo } from '../../commands/go-to.ts'
import type { FilteredView, VisitedView } from '../../commands/views.ts'
import { useConnectionsStore } from '../../stores/connections.ts'
import { useIncidentsStore } from '../../stores/incidents.ts'
import { useJobsTableStore } from '../../stores/jobs-table.ts'
import { useLocksStore } from '../../stores/locks.ts'
import { useMetadataStore } from '../../stores/metadata.ts'
import { useRulesViewStore } from '../../stores/rules-view.ts'
import { useSandboxStore } from '../../stores/sandbox.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { settingsShape, type SettingName } from '../../stores/settings-schema.ts'
import { useSettingsStore } from '../../stores/settings.ts'
import { useTokensStore } from '../../stores/tokens.ts'

/** Value for the jobs filter, cut at the first blank. */
const term = (text: string): string => text.split(/\s/)[0] ?? ''

export function usePlaces() {
  const router = useRouter()
  const selection = useSelectionStore()
  const jobs = useJobsTableStore()
  const rules = useRulesViewStore()
  const incidents = useIncidentsStore()
  const connections = useConnectionsStore()
  const sandbox = useSandboxStore()
  const locks = useLocksStore()
  const settings = useSettingsStore()
  const metadata = useMetadataStore()
  const tokens = useTokensStore()
  /** The filter of settings is part of the address. */
  const filters: Partial<Record<VisitedView, { filter: string }>> = {
    jobs,
    locks,
    rules,
    metadata,
    tokens,
    incidents,
  } satisfies Record<Exclude<FilteredView, 'settings'>, { filter: string }>
  const to = (name: VisitedView): Promise<unknown> => router.push({ name })

  function job(id: string): void {
    selection.select(id, { inspect: true })
    void to('jobs')
  }
  function jobsOf(filter: string): void {
    jobs.filter = filter
    void to('jobs')
  }
  function target(name: string): void {
    selection.choose('target', name)
    jobsOf(`target:${term(name)}`)
  }
  function incident(id: string): void {
    incidents.choose(id)
    void to('incidents')
  }
  function cluster(name: string): void {
    connections.chosen = name
    void to('connections')
  }
  function node(name: string): void {
    selection.choose('node', name)
    void to('overview')
  }
  function rule(name: string, of?: Extract<Found, { kind: 'rule' }>): void {
    if (of) {
      rules.show(of.service)
      rules.queue = of.queue
      rules.node = ''
    }
    selection.choose('rule', name)
    rules.sought = name
    void to('rules')
  }
  /** Opens a scenario by id or by the beginning of its title; the list of all if none matches. */
  async function scenario(name: string): Promise<void> {
    await to('sandbox')
    await sandbox.loadGallery()
    const low = name.toLowerCase()
    const all = sandbox.gallery ?? []
    const entry = all.find(({ id }) => id === name) ?? all.find(({ title }) => title.toLowerCase().startsWith(low))
    if (entry) sandbox.guarded(() => void sandbox.open(entry))
  }
  /** Opens the view of a search result. */
  function show(found: Found): void {
    if (found.kind === 'job') job(found.id)
    else if (found.kind === 'rule') rule(found.name, found)
    else if (found.kind === 'target') target(found.name)
    else if (found.kind === 'node') node(found.name)
    else if (found.kind === 'user' || found.kind === 'account') jobsOf(`${found.kind}:${term(found.name)}`)
    else if (found.kind === 'incident') incident(found.id)
    else if (found.kind === 'cluster') cluster(found.name)
    else {
      const { id, title, own } = found
      // Unsaved edits there are not lost.
      void to('sandbox').then(() => sandbox.guarded(() => void sandbox.open({ id, title, own, about: '' })))
    }
  }
  function set(name: string, value: string): void {
    const shape = settingsShape[name as SettingName]
    const read = [value, Number(value)].map((v) => shape.safeParse(v)).find((r) => r.success)
    if (read) settings.set({ [name]: read.data })
  }
  /** Opens the destination of a go-to line. */
  function goTo(where: GoTo): void {
    if (where.kind === 'set') set(where.name, where.value)
    else if (where.kind === 'help') void router.push({ name: 'help', params: where.page ? { page: where.page } : {} })
    else if (where.kind === 'view') {
      const store = filters[where.view]
      if (store) store.filter = where.filter
      void router.push({
        name: where.view,
        query: where.view === 'settings' && where.filter ? { find: where.filter } : {},
      })
    } else if (where.thing === 'job') job(where.id)
    else if (where.thing === 'rule') rule(where.id)
    else if (where.thing === 'target') target(where.id)
    else if (where.thing === 'node') node(where.id)
    else if (where.thing === 'incident') incident(where.id)
    else if (where.thing === 'cluster') cluster(where.id)
    else if (where.thing === 'scenario') void scenario(where.id)
    else jobsOf(`${where.thing}:${term(where.id)}`)
  }
  return { show, goTo, job }
}
