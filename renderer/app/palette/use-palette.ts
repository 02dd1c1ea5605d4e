/**
 * List of the palette for a text: current commands, search results of the host, settings and help; after a colon, go-to
 * lines.
 */
import { computed, onScopeDispose, ref, shallowRef, watch, type Component, type Ref } from 'vue'
import * as z from 'zod'
import {
  Gauge,
  BookOpenText,
  Settings,
  Activity,
  Building2,
  CircleUser,
  FlaskConical,
  HardDrive,
  ListOrdered,
  NotebookPen,
  Plug,
  Server,
} from '@lucide/vue'
import { useRouter } from 'vue-router'
import type { Found, FoundKind } from '#core/api/search.ts'
import { searchedThing, completeGoTo, readGoTo } from '../../commands/go-to.ts'
import { settingsObject } from '../../stores/settings-schema.ts'
import { onScreenJobs, type OnScreenJob } from '../../composables/on-screen-jobs.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, plural } from '../../format/units.ts'
import { useProposeStore } from '../../stores/propose.ts'
import type { Block } from '../../help/markdown/blocks.ts'
import { useShellStore } from '../../stores/shell.ts'
import { useCatalogueItems } from './catalogue-items.ts'
import { ranked } from './fuzzy.ts'
import type { Item, Ranked } from './item.ts'
import { usePlaces } from './places.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { usePaletteVerbs } from './verbs.ts'

const groupTitles: Readonly<Record<FoundKind, string>> = {
  job: 'Jobs',
  rule: 'Rules',
  target: 'Targets',
  node: 'Nodes',
  user: 'Users',
  account: 'Accounts',
  incident: 'Incidents',
  cluster: 'Clusters',
  scenario: 'Scenarios',
}
const icons: Readonly<Record<FoundKind, Component>> = {
  job: Activity,
  rule: ListOrdered,
  target: HardDrive,
  node: Server,
  user: CircleUser,
  account: Building2,
  incident: NotebookPen,
  cluster: Plug,
  scenario: FlaskConical,
}

function labelsOf(of: Found): { name: string; title: string; hint: string } {
  if (of.kind === 'job') {
    const whose = [of.user, of.account].filter(Boolean).join(', ')
    const now = !of.isThere ? 'ended' : of.rpcs === null ? 'not measured' : `${formatNumber(of.rpcs)} RPC/s`
    return { name: of.id, title: of.id, hint: [whose, now].filter(Boolean).join(' \u00B7 ') }
  }
  if (of.kind === 'rule') {
    const where = [of.conditions, of.queue === 'hp' ? 'hp' : '', of.service === 'ost_io' ? '' : of.service]
    return {
      name: `${of.service} ${of.queue} ${of.name} ${of.conditions}`,
      title: of.name,
      hint: where.filter(Boolean).join(' \u00B7 '),
    }
  }
  if (of.kind === 'incident') return { name: of.id, title: `${of.id} ${of.title}`, hint: of.status }
  if (of.kind === 'scenario') return { name: of.id, title: of.title, hint: of.own ? 'saved here' : 'built in' }
  if (of.kind === 'cluster')
    return { name: of.name, title: of.name, hint: of.via === '' ? of.env : `${of.env} \u00B7 ${of.via}` }
  if (of.kind === 'target') return { name: of.name, title: of.name, hint: of.node }
  if (of.kind === 'node') return { name: of.name, title: of.name, hint: of.role }
  return { name: of.name, title: of.name, hint: plural(of.jobs, 'job') }
}

/** Search results of the host, as groups of the palette. */
export function foundItems(found: readonly Found[], show: (found: Found) => void): Item[] {
  return found.map((of) => {
    const { name, title, hint } = labelsOf(of)
    return {
      id: `${of.kind} ${name}`.slice(0, 600),
      group: groupTitles[of.kind],
      icon: icons[of.kind],
      title: plainText(title),
      hint: plainText(hint),
      ...(of.kind === 'job' && of.isThere ? { colour: of.colour } : {}),
      run: () => show(of),
    }
  })
}

const TYPING_PAUSE_MS = 90
/** A single character matches nearly everything. */
const SEARCH_MIN_CHARS = 2
/** Limit of the contract. */
const SEARCH_MAX_CHARS = 200
const NOT_FOUND = { text: '', found: [] as readonly Found[], more: {} as Readonly<Record<string, number>> }

/**
 * Search at the host: sent once typing pauses; a newer query cancels the previous one, and late results are dropped.
 */
export function useSearch(text: Ref<string>) {
  const connection = useConnectionStore()
  const answer = shallowRef(NOT_FOUND)
  const isOff = shallowRef(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let call: AbortController | undefined

  function stop(): void {
    clearTimeout(timer)
    call?.abort()
    call = undefined
  }
  async function searchNow(wanted: string): Promise<void> {
    const host = connection.host
    isOff.value = host === null
    if (host === null) return
    const mine = (call = new AbortController())
    try {
      const { found, more } = await host.api.search.find({ text: wanted, limit: 6 }, { signal: mine.signal })
      if (call === mine) answer.value = { text: wanted, found, more }
    } catch {
      if (call === mine) {
        isOff.value = true
        answer.value = { ...NOT_FOUND, text: wanted }
      }
    }
  }
  watch(text, (next) => {
    stop()
    const wanted = next.trim().slice(0, SEARCH_MAX_CHARS)
    if (wanted.length < SEARCH_MIN_CHARS) answer.value = NOT_FOUND
    else timer = setTimeout(() => void searchNow(wanted), TYPING_PAUSE_MS)
  })
  onScopeDispose(stop)
  return { answer, isOff }
}

/** Characters of a page's text that are searched, besides its name and headings. */
const SEARCHED_CHARS = 300
const headsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => (block.kind === 'heading' ? block.text.map(({ text }) => text).join('') : []))

/** Settings and help pages in the palette; loaded when it first opens, because of their size. */
export function usePageItems() {
  const router = useRouter()
  const shell = useShellStore()
  const items = shallowRef<readonly Item[]>([])
  async function load(): Promise<void> {
    if (items.value.length > 0) return
    try {
      const [{ settingEntries }, { pages }] = await Promise.all([
        import('../../views/settings/entries.ts'),
        import('../../views/help/pages.ts'),
      ])
      items.value = [
        ...settingEntries
          .filter(({ id }) => id !== 'secrets' || shell.about?.secrets.can === true)
          .map(({ id, title, description }) => ({
            id: `setting ${id}`,
            group: 'Settings',
            title,
            keywords: description.slice(0, SEARCHED_CHARS),
            icon: Settings,
            run: () => void router.push({ name: 'settings', query: { find: id } }),
          })),
        ...pages.map(({ id, title, text, blocks }) => ({
          id: `help ${id}`,
          group: 'Help',
          title,
          icon: BookOpenText,
          keywords: [id.replaceAll('-', ' '), ...headsOf(blocks), text.slice(0, SEARCHED_CHARS)].join(' '),
          run: () => void router.push({ name: 'help', params: { page: id } }),
        })),
      ]
    } catch {
      // On failure there are no entries; loading is retried when the palette opens again.
    }
  }
  return { items, load }
}

const verbs = ['propose', 'limit', 'throttle', 'cap'] as const
const LEAST_CHARS = 3
const JOBS_MOST = 4

/** Job name in a text that begins with such a verb; null if there is no verb. */
export function jobNameAfterVerb(text: string): string | null {
  const [, verb = '', name = ''] = /^\s*(\S+)\s+(?:a\s+limit\s+)?(?:for\s+)?(.*)$/i.exec(text) ?? []
  const low = verb.toLowerCase()
  return low.length >= LEAST_CHARS && verbs.some((v) => v.startsWith(low)) ? name.trim() : null
}

/** Verbs of the palette that take a job: `propose 4690` offers a limit for each job that is found. */
function useJobVerbs(): (jobs: readonly string[]) => Item[] {
  const propose = useProposeStore()
  return (jobs) =>
    jobs.slice(0, JOBS_MOST).map((id) => ({
      id: `propose ${id}`.slice(0, 600),
      group: 'Commands',
      icon: Gauge,
      title: `Propose a limit for ${plainText(id)}`,
      run: () => propose.open(id),
    }))
}
const busiestFirst = (jobs: readonly OnScreenJob[]): string[] =>
  jobs.toSorted((a, b) => (b.rpcs ?? -1) - (a.rpcs ?? -1)).map(({ id }) => id)
const runningJobs = (found: readonly Found[]): string[] =>
  found.flatMap((f) => (f.kind === 'job' && f.isThere ? [f.id] : []))

const KEY = 'sluice.palette'
const MOST = 12
const recentSchema = z.array(z.string().min(1).max(600)).max(100)

/** Items recently chosen in the palette, newest first, by id. Kept in the browser's storage. */
export function lately(): string[] {
  try {
    const read = recentSchema.safeParse(JSON.parse(localStorage.getItem(KEY) ?? '[]'))
    return read.success ? read.data.slice(0, MOST) : []
  } catch {
    return [] // storage may be off or hold something else
  }
}
export function noteChosen(id: string): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...lately().filter((other) => other !== id)].slice(0, MOST)))
  } catch {
    // storage may be full or off: then nothing is stored
  }
}

/** Rows per group once a text is entered. */
const COMMANDS_MOST = 8
const PAGES_MOST = 4
const LATELY_MOST = 5

/** Settings that a go-to line can change, with their values. */
const settable = new Map(
  Object.entries(settingsObject.shape).flatMap(([name, shape]) => {
    const values = 'options' in shape ? shape.options : 'values' in shape ? [...shape.values] : []
    return values.length === 0 ? [] : [[name, values.map(String)] as const]
  }),
)

export interface Group {
  readonly title: string
  readonly rows: readonly Ranked[]
  /** Number of further matches. */
  readonly more: number
}

export function usePalette() {
  const query = ref('')
  const isGoTo = computed(() => query.value.startsWith(':'))
  const line = computed(() => query.value.slice(1))
  const verbs = usePaletteVerbs()
  const places = usePlaces()
  const pages = usePageItems()
  const jobVerbs = useJobVerbs()
  const catalogueItems = useCatalogueItems()

  /** List at the time the palette opened: it does not change while it is read. */
  const offered = shallowRef<readonly Item[]>([])
  const jobs = shallowRef<readonly Item[]>([])
  const recent = shallowRef<readonly string[]>([])
  function open(text: string): void {
    query.value = text
    offered.value = catalogueItems(verbs.value)
    recent.value = lately()
    jobs.value = onScreenJobs.value.map(({ id, colour, rpcs }) => ({
      id: `job ${id}`.slice(0, 600),
      group: groupTitles.job,
      title: plainText(id),
      colour,
      hint: rpcs === null ? 'not measured' : `${formatNumber(rpcs)} RPC/s`,
      run: () => places.job(id),
    }))
    void pages.load()
  }

  /** Text to search for at the host. */
  const wanted = computed(() =>
    isGoTo.value ? (searchedThing(line.value)?.name ?? '') : jobNameAfterVerb(query.value) || query.value,
  )
  const { answer, isOff } = useSearch(wanted)
  /** Results shown; not replaced while the pointer is in the list. */
  const shown = shallowRef(answer.value)
  const isHeld = ref(false)
  watch([answer, isHeld], ([next, held]) => {
    if (!held) shown.value = next
  })
  // A new text starts a new list.
  watch(query, () => (isHeld.value = false))
  const found = computed((): readonly Found[] => (wanted.value.trim().length < 2 ? [] : shown.value.found))

  const group = (title: string, rows: readonly Ranked[], more = 0): Group => ({ title, rows, more })
  function foundGroups(): Group[] {
    const items = foundItems(found.value, places.show)
    const marks = new Map(ranked(items, wanted.value).map((r) => [r.item.id, r]))
    return Object.entries(groupTitles).map(([kind, title]) => {
      const rows = items.filter((i) => i.group === title)
      const asRanked = rows.map((item) => marks.get(item.id) ?? { item, parts: [{ text: item.title, isHit: false }] })
      return group(title, asRanked, Math.max(0, (shown.value.more[kind] ?? rows.length) - rows.length))
    })
  }
  function searchGroups(): Group[] {
    const text = query.value
    if (text.trim() === '') {
      const byId = new Map([...offered.value, ...pages.items.value].map((i) => [i.id, i]))
      const last = recent.value.flatMap((id) => byId.get(id) ?? []).slice(0, LATELY_MOST)
      const rest = offered.value.filter((i) => !last.includes(i))
      return [
        group('Recent', ranked(last, '')),
        group('Commands', ranked(rest, '')),
        group('Jobs', ranked(jobs.value, '')),
      ]
    }
    const name = jobNameAfterVerb(text)
    // A verb alone offers the busiest jobs on screen.
    const named = name === '' ? busiestFirst(onScreenJobs.value) : name === null ? [] : runningJobs(found.value)
    const argued = ranked(jobVerbs(named), '')
    const commands = [...argued, ...ranked(offered.value, text, recent.value)]
    return [
      group('Commands', commands.slice(0, COMMANDS_MOST), Math.max(0, commands.length - COMMANDS_MOST)),
      ...foundGroups(),
      ...(['Settings', 'Help'] as const).map((title) =>
        group(
          title,
          ranked(
            pages.items.value.filter((i) => i.group === title),
            text,
          ).slice(0, PAGES_MOST),
        ),
      ),
    ]
  }
  /** Syntax error of a go-to line, once no further input can fix it. */
  const read = computed(() => (isGoTo.value ? readGoTo(line.value, settable) : null))
  const fault = computed(() => {
    const now = read.value
    return now && !now.ok ? { column: now.column, why: now.why, isUnfinished: now.isUnfinished } : null
  })
  function goToGroups(): Group[] {
    const now = read.value
    const to = now?.ok ? now.to : null
    const targets: Item[] = to
      ? [{ id: `:${line.value}`, group: 'Go to', title: `:${line.value.trim()}`, run: () => places.goTo(to) }]
      : []
    const wanted = searchedThing(line.value)
    const named = wanted === null ? [] : foundGroups().filter((g) => g.title === groupTitles[wanted.thing])
    const more = completeGoTo(line.value, settable)
      .filter((text) => text !== line.value.trim())
      .map((text): Item => ({
        id: `:${text}`,
        group: 'Go to',
        title: `:${text}`,
        fill: `:${text} `,
        run: () => undefined,
      }))
    return [...named, group('Go to', ranked([...targets, ...more], ''))]
  }
  const groups = computed(() => (isGoTo.value ? goToGroups() : searchGroups()).filter((g) => g.rows.length > 0))

  /** @returns true if the palette should close */
  function choose(item: Item): boolean {
    if (item.why !== undefined) return false
    if (item.fill !== undefined) {
      query.value = item.fill
      return false
    }
    noteChosen(item.id)
    item.run()
    return true
  }
  return { query, groups, fault, isGoTo, isHeld, isOff, open, choose }
}
