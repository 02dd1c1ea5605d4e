/**
 * Gives the element of a chart its name with figures, a place in the order of Tab, and its values to whoever asks for them by
 * the element. Names are written a few times a minute at most: they are read when somebody comes to them.
 */
import { getCurrentInstance, onBeforeUnmount, onMounted, shallowReactive, watch } from 'vue'
import { factWords, type ChartFacts } from './facts.ts'

type Facts = () => ChartFacts
/** Charts that are on the page. */
const charts = shallowReactive(new Map<Element, Facts>())
/** Least time between two names of a chart, ms. */
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
    const words = factWords(facts())
    if (element?.getAttribute('aria-label') !== words) element?.setAttribute('aria-label', words)
  }
  onMounted(() => {
    const root: unknown = instance?.proxy?.$el
    if (!(root instanceof HTMLElement || root instanceof SVGElement)) return
    const picture = root.matches('[role="img"]') ? root : root.querySelector<HTMLElement | SVGElement>('[role="img"]')
    element = picture ?? root
    // One that is worked with keys has a role, a name and a place of its own.
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
