/** Tagged rows, which stay in view: by table, until the tags are cleared or the source changes. */
import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

/** Tables whose rows can be tagged. */
export const tagTables = ['jobs', 'movers', 'rules', 'resources', 'clients'] as const
export type TagTable = (typeof tagTables)[number]
/** Most rows that the host puts before the others. */
export const TAGS_MAX = 100

export type Tags = Readonly<Record<TagTable, ReadonlySet<string>>>
const none = (): Tags => Object.fromEntries(tagTables.map((table) => [table, new Set<string>()])) as unknown as Tags

export const useTagsStore = defineStore('tags', () => {
  const tags = shallowRef(none())
  const of = (table: TagTable): ReadonlySet<string> => tags.value[table]
  function toggle(table: TagTable, id: string): void {
    const next = new Set(tags.value[table])
    if (!next.delete(id) && next.size < TAGS_MAX) next.add(id)
    tags.value = { ...tags.value, [table]: next }
  }
  function clear(table?: TagTable): void {
    tags.value = table === undefined ? none() : { ...tags.value, [table]: new Set<string>() }
  }
  const count = computed(() => tagTables.reduce((n, table) => n + tags.value[table].size, 0))
  return { tags, of, toggle, clear, count }
})

/** Tagged rows first, otherwise in the same order. */
export const taggedFirst = <R extends { readonly id: string }>(rows: readonly R[], tagged: ReadonlySet<string>): R[] =>
  tagged.size === 0
    ? [...rows]
    : [...rows.filter((row) => tagged.has(row.id)), ...rows.filter((row) => !tagged.has(row.id))]
