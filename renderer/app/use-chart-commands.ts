/** Keys of charts: values as a table, full-size panel, zoom and pan of the window. */
import { shallowRef } from 'vue'
import { closestTarget } from '../reach/key-target.ts'
import { say } from '../composables/announcements.ts'
import { toggleFullSize } from '../reach/full-size.ts'
import type { ChartFacts } from '../charts/facts.ts'
import { chartElements, factsOf } from '../charts/use-chart-facts.ts'
import { crosshairMs } from '../charts/use-time-chart.ts'
import { useCommands } from '../composables/use-commands.ts'
import { useTimeStore } from '../stores/time.ts'

/** Smallest and largest window that a key can set, ms. */
const LEAST_MS = 10_000
const MOST_MS = 86_400_000

/** Chart with the focus, else the one under the pointer; or the chart of the targeted panel. */
export function targetChart(): Element | null {
  const chart = closestTarget('[data-chart]')
  if (chart !== null) return chart
  const panel = closestTarget('.panel, .one, [data-panel]')
  return (panel && chartElements().find((element) => panel.contains(element))) ?? null
}
/** Targeted chart, else the first of the view. */
const chartOfView = (): Element | null => {
  const view = document.querySelector('.view')
  return targetChart() ?? chartElements().find((element) => view?.contains(element) === true) ?? null
}
/** First chart of the view over time: all of them show the same window. */
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
  /**
   * Runs `act` on the window if a chart over time is targeted, else leaves the key to other handlers. By name, from the
   * palette, any chart of the view does.
   */
  const onChart =
    (act: (windowMs: number, endMs: number) => void) =>
    (event?: KeyboardEvent): unknown => {
      const chart = event === undefined ? timeChartOfView() : closestTarget('[data-chart]')
      if (chart === null || factsOf(chart)?.across !== 'Time' || time.atMs === null) {
        if (event === undefined) say('No chart over time in this view')
        return false
      }
      act(time.windowMs, time.atMs)
      return undefined
    }
  /** Changes the width around the crosshair, else with the same end. */
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
      if (toggleFullSize()) return undefined
      say('No panel selected: focus one or point at it')
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
