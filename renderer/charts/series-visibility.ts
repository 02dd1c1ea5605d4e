/** Series of a chart that its legend hides: a click isolates one, again shows all; with Ctrl or Shift it toggles one. */
import { shallowRef, type ShallowRef } from 'vue'

export interface SeriesVisibility {
  readonly hidden: Readonly<ShallowRef<ReadonlySet<string>>>
  /** @param all  ids of all series in the legend. */
  readonly choose: (id: string, all: readonly string[], isToggle: boolean) => void
}

export function useSeriesVisibility(): SeriesVisibility {
  const hidden = shallowRef<ReadonlySet<string>>(new Set())
  function choose(id: string, all: readonly string[], isToggle: boolean): void {
    const shown = all.filter((each) => !hidden.value.has(each))
    const isAlone = shown.length === 1 && shown[0] === id
    if (isToggle && !isAlone) {
      const next = new Set(hidden.value)
      if (!next.delete(id)) next.add(id)
      hidden.value = next
    } else hidden.value = isAlone ? new Set() : new Set(all.filter((each) => each !== id))
  }
  return { hidden, choose }
}
