/** Which events are of the selection of the window: what they tell names it, or what hangs together with it. */
import { computed } from 'vue'
import type { Mark } from '#core/api/history.ts'
import type { LinkedKind } from '#core/api/linked.ts'
import { useSelectionStore, type Tied } from '../stores/selection.ts'

/** Kinds by whose names the words of an event are gone through; where it was is a place. */
const NAMED = ['job', 'rule', 'user', 'target', 'node'] as const satisfies readonly LinkedKind[]
/** What stands between names, and what may stand right behind one. */
const BETWEEN = /[\s,;:()'"]+/
const wordsOf = (text: string): string[] => text.split(BETWEEN).map((word) => word.replace(/\.$/, ''))

export function useTiedMarks() {
  const selection = useSelectionStore()
  const names = computed(() => new Set(NAMED.flatMap((kind) => [...selection.of(kind)])))
  function tiedOf(mark: Pick<Mark, 'text' | 'where'>): Tied {
    const chosen = selection.selected
    if (chosen === null) return null
    if (mark.where === chosen.id || mark.text.includes(chosen.name)) return 'chosen'
    const isNamed = names.value.has(mark.where) || wordsOf(mark.text).some((word) => names.value.has(word))
    return isNamed ? 'linked' : null
  }
  /** A new function with each selection, so that what is drawn by it is drawn anew. */
  const isTied = computed(() => {
    const { size } = names.value
    return selection.selected === null || size === 0 ? undefined : (mark: Mark) => tiedOf(mark) !== null
  })
  return { tiedOf, isTied }
}
