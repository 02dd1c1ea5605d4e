/** Edits recorded from store changes: undo restores the previous value. */
import { watch } from 'vue'
import type { ChosenKeys } from '../commands/keymap-text.ts'
import { useKeymapStore } from '../commands/keymap.ts'
import type { JobColumn, JobGroupBy } from '#core/api/frames.ts'
import type { PadllPlane } from '#core/api/padll.ts'
import { useJobsTableStore } from './jobs-table.ts'
import { useIncidentsStore } from './incidents.ts'
import { useLocksStore } from './locks.ts'
import { useMetadataStore } from './metadata.ts'
import { usePolicyDraftStore } from './policy-draft.ts'
import { useRulesViewStore } from './rules-view.ts'
import { useSandboxVariantsStore, type VariantEntry } from './sandbox-variants.ts'
import { useSandboxStore } from './sandbox.ts'
import { settingTitles } from './setting-titles.ts'
import { settingNames, type SettingName, type Settings } from './settings-schema.ts'
import { useSettingsStore } from './settings.ts'
import { tagTables, useTagsStore, type Tags } from './tags.ts'
import { useTokensStore } from './tokens.ts'
import { useUndoStore, type EditArea } from './undo.ts'

interface Noticed<T> {
  readonly area: EditArea
  readonly of: () => T
  readonly put: (value: T) => unknown
  readonly label: (now: T, before: T) => string
  /** Key under which quick successive changes are merged; none: not merged. */
  readonly joins?: (now: T, before: T) => string
  /** True if the change is not an edit, for example an opened draft. */
  readonly isOther?: (now: T, before: T) => boolean
}

function notice<T>({ area, of, put, label, joins, isOther }: Noticed<T>): void {
  const undo = useUndoStore()
  watch(
    of,
    (now, before) => {
      if (isOther?.(now, before)) return
      const joined = joins?.(now, before)
      undo.push({
        area,
        label: label(now, before),
        undo: () => put(before),
        redo: () => put(now),
        ...(joined === undefined ? {} : { joins: joined }),
      })
    },
    { flush: 'sync' },
  )
}

function settingLabel(now: Settings, before: Settings): string {
  const changed = settingNames.filter((name) => now[name] !== before[name])
  const [only] = changed
  if (changed.length !== 1 || only === undefined) return changed.length > 1 ? `${changed.length} settings` : 'settings'
  return settingTitles[only]
}
const changedNames = (now: Settings, before: Settings): SettingName[] =>
  settingNames.filter((name) => now[name] !== before[name])

/** State of the jobs table that is undone together. */
interface JobsView {
  readonly filter: string
  readonly sort: JobColumn
  readonly descending: boolean
  readonly target: string
  readonly groupBy: JobGroupBy | null
}
function jobsViewLabel(now: JobsView, before: JobsView): string {
  if (now.groupBy !== before.groupBy) return now.groupBy === null ? 'jobs ungrouped' : `jobs by ${now.groupBy}`
  if (now.filter !== before.filter) return now.filter === '' ? 'jobs filter cleared' : `filter ${now.filter}`
  if (now.target !== before.target)
    return now.target === '' ? 'token balances of all targets' : `token balances of ${now.target}`
  return `jobs sorted by ${now.sort}`
}

const jobsView = ({ filter, sort, descending, target, groupBy }: JobsView): JobsView => ({
  filter,
  sort,
  descending,
  target,
  groupBy,
})

const tagChange = (now: Tags, before: Tags) =>
  tagTables.map((table) => ({
    put: [...now[table]].filter((id) => !before[table].has(id)),
    taken: [...before[table]].filter((id) => !now[table].has(id)),
  }))
function tagsLabel(now: Tags, before: Tags): string {
  const all = tagChange(now, before)
  const put = all.flatMap((c) => c.put)
  const taken = all.flatMap((c) => c.taken)
  if (put.length + taken.length > 1) return `${put.length + taken.length} tags cleared`
  return put[0] === undefined ? `tag removed from ${taken[0] ?? ''}` : `tag of ${put[0]}`
}

function variantsLabel(now: readonly VariantEntry[], before: readonly VariantEntry[]): string {
  const added = now.find(({ id }) => before.every((e) => e.id !== id))
  const removed = before.find(({ id }) => now.every((e) => e.id !== id))
  if (added && !removed) return `variant ${added.variant.name} added`
  if (removed && !added) return `variant ${removed.variant.name} removed`
  const changed = now.find((e) => before.every((b) => b !== e))
  return changed ? `variant ${changed.variant.name}` : 'order of variants'
}

const filters = (): readonly { readonly of: string; readonly store: { filter: string } }[] => [
  { of: 'rules', store: useRulesViewStore() },
  { of: 'metadata', store: useMetadataStore() },
  { of: 'clients', store: useTokensStore() },
  { of: 'notebooks', store: useIncidentsStore() },
]

/** Starts recording; called once, by the frame. */
export function recordEdits(): void {
  const settings = useSettingsStore()
  const jobs = useJobsTableStore()
  const locks = useLocksStore()
  const sandbox = useSandboxStore()
  const variants = useSandboxVariantsStore()
  const policies = usePolicyDraftStore()
  const undo = useUndoStore()
  const keymap = useKeymapStore()
  const tags = useTagsStore()

  notice<Settings>({
    area: 'settings',
    of: () => ({ ...settings.all }),
    put: (value) => settings.set(value),
    label: settingLabel,
    joins: (now, before) => `setting ${changedNames(now, before).join(' ')}`,
    isOther: (now, before) => changedNames(now, before).length === 0,
  })
  notice<ChosenKeys>({
    area: 'settings',
    of: () => keymap.chosen,
    put: (value) => (keymap.chosen = value),
    label: () => 'key bindings',
  })
  notice<JobsView>({
    area: 'jobs',
    of: () => jobsView(jobs),
    put: (value) => jobs.$patch(value),
    label: jobsViewLabel,
    joins: (now, before) =>
      now.filter !== before.filter
        ? 'jobs filter'
        : now.groupBy !== before.groupBy
          ? 'jobs grouping'
          : now.target !== before.target
            ? 'jobs target'
            : `jobs order ${now.sort}`,
  })
  notice<Tags>({
    area: 'views',
    of: () => tags.tags,
    put: (value) => (tags.tags = value),
    label: tagsLabel,
    isOther: (now, before) => tagChange(now, before).every(({ put, taken }) => put.length + taken.length === 0),
  })
  notice<string>({
    area: 'views',
    of: () => locks.filter,
    put: (value) => (locks.filter = value),
    label: (now) => (now === '' ? 'locks filter cleared' : `locks filter ${now}`),
    joins: () => 'locks filter',
  })
  for (const { of, store } of filters()) {
    notice<string>({
      area: 'views',
      of: () => store.filter,
      put: (value) => (store.filter = value),
      label: (now) => (now === '' ? `${of} filter cleared` : `${of} filter ${now}`),
      joins: () => `${of} filter`,
    })
  }
  notice<readonly VariantEntry[]>({
    area: 'sandbox',
    of: () => variants.entries,
    put: (value) => variants.put(value),
    label: variantsLabel,
    joins: (now, before) => {
      const changed = now.length === before.length ? now.find((e) => !before.includes(e)) : undefined
      return changed ? `variant ${changed.id}` : `variants ${now.length}`
    },
    // Variants that come or go with a scenario.
    isOther: (now, before) => now.every(({ id }) => before.every((b) => b.id !== id)),
  })
  notice<string>({
    area: 'sandbox',
    of: () => sandbox.text,
    put: (value) => sandbox.edit(value),
    label: () => 'scenario text',
    joins: () => 'scenario text',
    isOther: (now) => now === sandbox.savedText,
  })
  // Edits of the previous scenario are dropped.
  watch(
    () => sandbox.loads,
    () => undo.forget('sandbox'),
    { flush: 'sync' },
  )
  notice<{ plane: PadllPlane; text: string } | null>({
    area: 'policies',
    of: () => (policies.draft === null ? null : { plane: policies.draft.plane, text: policies.draft.text }),
    put: (value) => value !== null && policies.put(value.plane, value.text),
    label: () => 'policy text',
    joins: () => 'policies',
    isOther: (now, before) =>
      now === null || before === null || now.plane !== before.plane || now.text === before.text || !isTouched(),
  })
  const isTouched = (): boolean => policies.draft?.isTouched === true
}
