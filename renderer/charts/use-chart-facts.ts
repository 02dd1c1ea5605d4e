/**
 * Gives the element of a chart an accessible name with figures and a tab stop, and registers its values by element.
 * Names are updated every 2 s at most, since they are only read on focus.
 */
import { getCurrentInstance, onBeforeUnmount, onMounted, shallowReactive, watch } from 'vue'
import { factText, type ChartFacts } from './facts.ts'

type Facts = () => ChartFacts
/** Mounted charts. */
const charts = shallowReactive(new Map<Element, Facts>())
/** Shortest time between two updates of a name, ms. */
const NAME_MS = 2000

export const chartElements = (): Element[] => [...charts.keys()]
export const factsOf = (element: Element): ChartFacts | null => charts.get(element)?.() ?? null

export function useChartFacts(facts: Facts): void {
  const instance = getCurrentInstance()
  let element: HTMLElement | SVGElement | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let namedAt = -Infinity
  let isNamed = false
  function name(): void {
    timer = undefined
    namedAt = performance.now()
    const words = factText(facts())
    if (element?.getAttribute('aria-label') !== words) element?.setAttribute('aria-label', words)
  }
  onMounted(() => {
    const root: unknown = instance?.proxy?.$el
    if (!(root instanceof HTMLElement || root instanceof SVGElement)) return
    const picture = root.matches('[role="img"]') ? root : root.querySelector<HTMLElement | SVGElement>('[role="img"]')
    element = picture ?? root
    // A chart with keyboard control has its own role, name and tab stop.
    isNamed = picture === null && root.hasAttribute('role')
    if (picture === null && !isNamed) element.setAttribute('role', 'group')
    charts.set(element, facts)
    element.setAttribute('data-chart', '')
    if (isNamed) return
    element.setAttribute('tabindex', '0')
    name()
  })
  watch(facts, () => {
    if (!isNamed) timer ??= setTimeout(name, Math.max(0, namedAt + NAME_MS - performance.now()))
  })
  onBeforeUnmount(() => {
    clearTimeout(timer)
    if (element !== null) charts.delete(element)
  })
}
