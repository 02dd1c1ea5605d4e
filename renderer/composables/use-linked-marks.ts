/** Events that concern the selection: their text names it, or something linked to it. */
import { computed } from 'vue'
import type { Mark } from '#core/api/history.ts'
import type { LinkedKind } from '#core/api/linked.ts'
import { useSelectionStore, type SelectionRelation } from '../stores/selection.ts'

/** Kinds whose names are searched in the text of an event; `where` is a server or target. */
const NAMED = ['job', 'rule', 'user', 'target', 'node'] as const satisfies readonly LinkedKind[]
/** Separators between names; a trailing period is removed, too. */
const BETWEEN = /[\s,;:()'"]+/
const wordsOf = (text: string): string[] => text.split(BETWEEN).map((word) => word.replace(/\.$/, ''))

export function useLinkedMarks() {
  const selection = useSelectionStore()
  const names = computed(() => new Set(NAMED.flatMap((kind) => [...selection.of(kind)])))
  function relationOf(mark: Pick<Mark, 'text' | 'where'>): SelectionRelation {
    const chosen = selection.selected
    if (chosen === null) return null
    if (mark.where === chosen.id || mark.text.includes(chosen.name)) return 'chosen'
    const isNamed = names.value.has(mark.where) || wordsOf(mark.text).some((word) => names.value.has(word))
    return isNamed ? 'linked' : null
  }
  /** A new function for each selection, so that its users are redrawn. */
  const isRelated = computed(() => {
    const { size } = names.value
    return selection.selected === null || size === 0 ? undefined : (mark: Mark) => relationOf(mark) !== null
  })
  return { relationOf, isRelated }
}
