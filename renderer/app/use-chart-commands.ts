/** Keys of charts: their values as a table, the whole view for one panel, zoom and pan of the window they show. */
import { shallowRef } from 'vue'
import { aimedAt } from '../reach/pointed.ts'
import { say } from '../composables/said.ts'
import { turnFull } from '../reach/full.ts'
import type { ChartFacts } from '../charts/facts.ts'
import { chartElements, factsOf } from '../charts/use-chart-facts.ts'
import { crosshairMs } from '../charts/use-time-chart.ts'
import { useCommands } from '../composables/use-commands.ts'
import { useTimeStore } from '../stores/time.ts'

/** Least and most that a key makes of the window, ms. */
const [LEAST_MS, MOST_MS] = [10_000, 86_400_000]

/** The chart with the focus, else the one under the pointer: itself, or the one of the panel that is meant. */
export function chartMeant(): Element | null {
  const chart = aimedAt('[data-chart]')
  if (chart !== null) return chart
  const panel = aimedAt('.panel, .one, [data-panel]')
  return (panel && chartElements().find((element) => panel.contains(element))) ?? null
}
/** Without one that is meant, the first of the view. */
const chartOfView = (): Element | null => {
  const view = document.querySelector('.view')
  return chartMeant() ?? chartElements().find((element) => view?.contains(element) === true) ?? null
}
/** All charts of the window show the same stretch of it: one is as good as another. */
const timeChartOfView = (): Element | null => {
  const view = document.querySelector('.view')
  return chartElements().find((e) => view?.contains(e) === true && factsOf(e)?.across === 'Time') ?? null
}

export function useChartCommands() {
  const time = useTimeStore()
  const shown = shallowRef<{ readonly facts: ChartFacts; readonly cursor: number | null } | null>(null)

  function values(): boolean {
    const chart = chartOfView()
    const facts = chart && factsOf(chart)
    if (!facts) return false
    const isTime = facts.across === 'Time'
    shown.value = { facts, cursor: isTime ? (crosshairMs() ?? (time.isPaused ? time.atMs : null)) : null }
    return true
  }
  /** A chart of the window is meant; keys are left to others where none is. By name, from the palette, it is any of the view. */
  const onChart =
    (act: (windowMs: number, endMs: number) => void) =>
    (event?: KeyboardEvent): unknown => {
      const chart = event === undefined ? timeChartOfView() : aimedAt('[data-chart]')
      if (chart === null || factsOf(chart)?.across !== 'Time' || time.atMs === null) {
        if (event === undefined) say('There is no chart of the window in this view')
        return false
      }
      act(time.windowMs, time.atMs)
      return undefined
    }
  /** Another width around the crosshair, else with the same end. */
  function zoomTo(windowMs: number, endMs: number, width: number): void {
    const wide = Math.max(LEAST_MS, Math.min(MOST_MS, Math.round(width)))
    if (wide === windowMs) return
    const at = crosshairMs()
    const centre = at === null || wide > windowMs ? null : at
    if (centre === null && !time.isPaused) time.chooseWindow(wide)
    else {
      const to = centre === null ? endMs : Math.min(endMs, centre + wide / 2)
      time.zoom(to - wide, to)
    }
  }
  useCommands({
    'charts.values': values,
    'charts.full': () => {
      if (turnFull()) return undefined
      say('No panel is meant: the focus or the pointer chooses one')
      return undefined
    },
    'charts.closer': onChart((windowMs, endMs) => zoomTo(windowMs, endMs, windowMs / 2)),
    'charts.wider': onChart((windowMs, endMs) => zoomTo(windowMs, endMs, windowMs * 2)),
    'charts.earlier': onChart((windowMs, endMs) => time.goToTime(endMs - windowMs / 2)),
    'charts.later': onChart((windowMs, endMs) => {
      const newest = endMs + (time.newest - time.sample) * time.intervalMs
      if (time.isPaused) time.goToTime(Math.min(newest, endMs + windowMs / 2))
    }),
  })
  return { shown }
}
