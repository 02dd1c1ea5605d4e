/**
 * Nothing moves under the pointer: while it rests on a list, rows keep their places and only their values change. Elsewhere
 * they change places at a pace that can be followed.
 */
import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'

/** Rows in the order of `held`: a row keeps its place while it is still sent, the others fill what is left. */
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
 * @param order  changes when another order was asked for: sorting, another slice. That is never held back.
 * @param paceMs least time between two orders, ms; 0 = with every frame. Rows that change places faster cannot be read.
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
  // The other order comes with the next rows, and is then the one to hold.
  watch(fresh, () => {
    const isDue = !isHovered.value && performance.now() - heldSinceMs >= paceMs()
    if (held.value === null || isDue) capture()
  })
  const rows = computed(() => (held.value === null ? fresh() : inHeldOrder(fresh(), held.value)))
  return { rows, isHovered, isHeld: computed(() => isHovered.value && held.value !== null) }
}
