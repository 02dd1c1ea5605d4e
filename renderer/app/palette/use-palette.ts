/** The palette's list for a text: commands of now, what the host finds, settings and help; or, behind a colon, where to go. */
import { computed, ref, shallowRef, watch } from 'vue'
import type { Found } from '#core/api/search.ts'
import { askedThing, completeGoTo, readGoTo } from '../../commands/go-to.ts'
import { settingsObject } from '../../stores/settings-schema.ts'
import { onScreenJobs } from '../../composables/on-screen-jobs.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber } from '../../format/units.ts'
import { useCatalogueItems } from './catalogue-items.ts'
import { foundItems, groupTitles } from './found-items.ts'
import { ranked } from './fuzzy.ts'
import type { Item, Ranked } from './item.ts'
import { nameBehindVerb, runningJobs, useJobVerbs } from './job-verbs.ts'
import { lately, noteChosen } from './lately.ts'
import { usePageItems } from './page-items.ts'
import { usePlaces } from './places.ts'
import { useSearch } from './use-search.ts'
import { usePaletteVerbs } from './verbs.ts'

/** Rows of a group once there is a text. */
const [COMMANDS_MOST, PAGES_MOST, LATELY_MOST] = [8, 4, 5]

/** What can be set by a line, and to what. */
const settable = new Map(
  Object.entries(settingsObject.shape).flatMap(([name, shape]) => {
    const values = 'options' in shape ? shape.options : 'values' in shape ? [...shape.values] : []
    return values.length === 0 ? [] : [[name, values.map(String)] as const]
  }),
)

export interface Group {
  readonly title: string
  readonly rows: readonly Ranked[]
  /** How many more there are. */
  readonly more: number
}

export function usePalette() {
  const query = ref('')
  const isGoTo = computed(() => query.value.startsWith(':'))
  const line = computed(() => query.value.slice(1))
  const [verbs, places, pages, jobVerbs] = [usePaletteVerbs(), usePlaces(), usePageItems(), useJobVerbs()]
  const catalogueItems = useCatalogueItems()

  /** The list as it was when the palette opened: it does not move while it is read. */
  const offered = shallowRef<readonly Item[]>([])
  const jobs = shallowRef<readonly Item[]>([])
  const recent = shallowRef<readonly string[]>([])
  function open(text: string): void {
    query.value = text
    offered.value = catalogueItems(verbs.value)
    recent.value = lately()
    jobs.value = onScreenJobs.value.map(({ id, colour, rpcs }) => ({
      ...{ id: `job ${id}`.slice(0, 600), group: groupTitles.job, title: plainText(id), colour },
      ...{ hint: rpcs === null ? 'not measured' : `${formatNumber(rpcs)} RPC/s`, run: () => places.job(id) },
    }))
    void pages.load()
  }

  /** What the host is asked for. */
  const wanted = computed(() =>
    isGoTo.value ? (askedThing(line.value)?.name ?? '') : (nameBehindVerb(query.value) ?? query.value),
  )
  const { answer, isOff } = useSearch(wanted)
  /** What is shown of it; while the pointer is in the list it is not replaced under it. */
  const shown = shallowRef(answer.value)
  const isHeld = ref(false)
  watch([answer, isHeld], ([next, held]) => {
    if (!held) shown.value = next
  })
  // A new text is a new list.
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
    const argued = nameBehindVerb(text) === null ? [] : ranked(jobVerbs(runningJobs(found.value)), '')
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
  /** What is wrong with a line, once it can no longer become right. */
  const read = computed(() => (isGoTo.value ? readGoTo(line.value, settable) : null))
  const fault = computed(() => {
    const now = read.value
    return now && !now.ok ? { column: now.column, why: now.why, isUnfinished: now.isUnfinished } : null
  })
  function goToGroups(): Group[] {
    const now = read.value
    const to = now?.ok ? now.to : null
    const own: Item[] = to
      ? [{ id: `:${line.value}`, group: 'Go to', title: `:${line.value.trim()}`, run: () => places.goTo(to) }]
      : []
    const asked = askedThing(line.value)
    const named = asked === null ? [] : foundGroups().filter((g) => g.title === groupTitles[asked.thing])
    const more = completeGoTo(line.value, settable)
      .filter((text) => text !== line.value.trim())
      .map((text): Item => ({
        id: `:${text}`,
        group: 'Go to',
        title: `:${text}`,
        fill: `:${text} `,
        run: () => undefined,
      }))
    return [...named, group('Go to', ranked([...own, ...more], ''))]
  }
  const groups = computed(() => (isGoTo.value ? goToGroups() : searchGroups()).filter((g) => g.rows.length > 0))

  /** @returns whether the palette has done what it is for */
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
