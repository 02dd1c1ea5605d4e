/**
 * Stable row order: while the pointer is over a list, rows keep their positions and only their values change. Otherwise
 * they are reordered at a readable pace.
 */
import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'

/** Rows in the order of `held`: a row keeps its position while it is present, the others fill the rest. */
export function inHeldOrder<R extends { id: string }>(rows: readonly R[], held: readonly string[]): R[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const placed = held.slice(0, rows.length).map((id) => {
    const row = byId.get(id)
    byId.delete(id)
    return row
  })
  const rest = [...byId.values()]
  return Array.from({ length: rows.length }, (_, i) => placed[i] ?? rest.shift()).filter((row) => row !== undefined)
}

/**
 * @param order  changes with a requested reordering: sorting, another slice. That is never delayed.
 * @param paceMs shortest time between two orders, ms; 0 = with every frame. Rows that move faster cannot be read.
 */
export function useHeldOrder<R extends { id: string }>(
  fresh: () => readonly R[],
  order: () => unknown = () => undefined,
  paceMs: () => number = () => 0,
): { rows: ComputedRef<readonly R[]>; isHovered: Ref<boolean>; isHeld: ComputedRef<boolean> } {
  const isHovered = ref(false)
  const held = shallowRef<readonly string[] | null>(null)
  let heldSinceMs = -Infinity
  const capture = (): void => {
    held.value = isHovered.value || paceMs() > 0 ? fresh().map((row) => row.id) : null
    heldSinceMs = performance.now()
  }
  watch(isHovered, (on) => {
    if (!on || held.value === null) capture()
  })
  watch(order, () => (held.value = null))
  // The requested order arrives with the next rows and is then held.
  watch(fresh, () => {
    const isDue = !isHovered.value && performance.now() - heldSinceMs >= paceMs()
    if (held.value === null || isDue) capture()
  })
  const rows = computed(() => (held.value === null ? fresh() : inHeldOrder(fresh(), held.value)))
  return { rows, isHovered, isHeld: computed(() => isHovered.value && held.value !== null) }
}
