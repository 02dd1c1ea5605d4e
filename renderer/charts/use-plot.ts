/** The room that a chart in SVG has, measured as it changes: `ref="box"` of the caller's template names its element. */
import { type MaybeElement } from '@vueuse/core'
import { computed, useTemplateRef, type ComputedRef } from 'vue'
import { useBoxSize } from '../composables/use-box-size.ts'
import { plotOf, type Ends, type Plot, type PlotBox } from './plot.ts'

export interface PlotRoom extends Plot, PlotBox {
  /** Where the plot ends to the right and below, px. */
  readonly right: number
  readonly floor: number
}
/** `first` is the size until one is measured. */
export interface PlotWish {
  readonly margins: PlotBox['margins']
  readonly first: { readonly width: number; readonly height: number }
  readonly across: () => Ends
  readonly up: () => Ends
}

export function usePlot({ margins, first, across, up }: PlotWish): ComputedRef<PlotRoom> {
  const { width, height } = useBoxSize(useTemplateRef<MaybeElement>('box'), first)
  return computed(() => {
    const box = { width: width.value, height: height.value, margins }
    const [right, floor] = [Math.max(margins.left, box.width - margins.right), box.height - margins.bottom]
    return { ...box, ...plotOf(box, across(), up()), right, floor }
  })
}
