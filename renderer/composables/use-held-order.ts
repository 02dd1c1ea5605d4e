/**
 * Stable row order: while the pointer is over a list, rows keep their positions and only their values change. Otherwise
 * rows and their values change together at a readable pace: values that change alone would not match the order.
 */
import { computed, onScopeDispose, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import { EXTRA_DELAY_MS, NEARLY } from './animation-frame.ts'

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

/** Fields of the first row: rows with other fields, as in a comparison, are shown at once. */
const fieldsOf = (rows: readonly object[]): string =>
  Object.entries(rows[0] ?? {})
    .flatMap(([name, value]) => (value === undefined ? [] : name))
    .join()

/**
 * @param order  changes with a requested reordering: sorting, another slice. That is never delayed.
 * @param paceMs shortest time between two orders, ms; 0 = with every frame. Rows that move faster cannot be read.
 *   The last rows are shown some time later even if no others follow.
 */
export function useHeldOrder<R extends { id: string }>(
  fresh: () => readonly R[],
  order: () => unknown = () => undefined,
  paceMs: () => number = () => 0,
): { rows: ComputedRef<readonly R[]>; isHovered: Ref<boolean>; isHeld: ComputedRef<boolean> } {
  const isHovered = ref(false)
  const held = shallowRef<readonly R[] | null>(null)
  let heldSinceMs = -Infinity
  let timer: ReturnType<typeof setTimeout> | undefined
  const capture = (): void => {
    clearTimeout(timer)
    timer = undefined
    held.value = isHovered.value || paceMs() > 0 ? fresh() : null
    heldSinceMs = performance.now()
  }
  onScopeDispose(() => clearTimeout(timer))
  watch(isHovered, (on) => {
    if (!on || held.value === null) capture()
  })
  watch(order, () => (held.value = null))
  // The requested order arrives with the next rows and is then held.
  watch(fresh, (next) => {
    const pace = paceMs()
    const heldMs = performance.now() - heldSinceMs
    const isDue = !isHovered.value && heldMs >= pace * NEARLY
    if (held.value === null || isDue || fieldsOf(held.value) !== fieldsOf(next)) capture()
    else if (!isHovered.value) timer ??= setTimeout(() => isHovered.value || capture(), pace + EXTRA_DELAY_MS - heldMs)
  })
  const rows = computed(() => {
    const kept = held.value
    if (kept === null || (!isHovered.value && paceMs() === 0)) return fresh()
    if (!isHovered.value) return kept
    return inHeldOrder(
      fresh(),
      kept.map((row) => row.id),
    )
  })
  return { rows, isHovered, isHeld: computed(() => isHovered.value && held.value !== null) }
}
