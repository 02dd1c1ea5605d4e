/** Keys of charts: values as a table, full-size panel, zoom and pan of the window. */
import { shallowRef } from 'vue'
import { closestTarget } from '../reach/key-target.ts'
import { announce } from '../composables/announcements.ts'
import { chartPicture, chartVector } from '../reach/chart-picture.ts'
import { pngOf, saveBlob } from '../reach/copy.ts'
import { toggleFullSize } from '../reach/full-size.ts'
import type { ChartFacts } from '../charts/facts.ts'
import { chartElements, factsOf } from '../charts/use-chart-facts.ts'
import { crosshairMs } from '../charts/use-chart.ts'
import { useCommands } from '../composables/use-commands.ts'
import { useTimeStore } from '../stores/time.ts'
import { useProvenance } from './provenance.ts'

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
  const provenance = useProvenance()
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
        if (event === undefined) announce('No chart over time in this view')
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
  async function blobOf(chart: Element, kind: 'png' | 'svg'): Promise<Blob | null> {
    const title = chart.closest('.panel, .one, section')?.querySelector('h2')?.textContent?.trim()
    const words = { title: title ?? factsOf(chart)?.title ?? 'Chart', strip: provenance() }
    if (kind === 'svg') {
      const text = chartVector(chart, words)
      return text === null ? null : new Blob([text], { type: 'image/svg+xml' })
    }
    const canvas = await chartPicture(chart, words)
    return canvas === null ? null : await pngOf(canvas)
  }
  const save = (kind: 'png' | 'svg') => (): unknown => {
    const chart = chartOfView()
    if (chart === null) {
      announce('No chart in this view')
      return false
    }
    void blobOf(chart, kind).then(async (blob) => {
      if (blob === null) return announce('This chart has no picture: copy its values instead')
      const name = `sluice-chart.${kind}`
      announce((await saveBlob(blob, name)) === 'saved' ? `Chart saved as ${name}` : 'Chart not saved')
    })
    return undefined
  }
  useCommands({
    'charts.values': values,
    'charts.save-png': save('png'),
    'charts.save-svg': save('svg'),
    'charts.full': () => {
      if (toggleFullSize()) return undefined
      announce('No panel selected: focus one or point at it')
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
