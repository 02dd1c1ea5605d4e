/** Size of an SVG chart, measured as it changes: `ref="box"` in the caller's template names its element. */
import { type MaybeElement } from '@vueuse/core'
import { computed, useTemplateRef, type ComputedRef } from 'vue'
import { useBoxSize } from '../composables/use-box-size.ts'
import { plotOf, type Ends, type Plot, type PlotBox } from './plot.ts'

export interface PlotArea extends Plot, PlotBox {
  /** Right and bottom end of the plot, px. */
  readonly right: number
  readonly floor: number
}
/** `first` is the size until it is measured. */
export interface PlotOptions {
  readonly margins: PlotBox['margins']
  readonly first: { readonly width: number; readonly height: number }
  readonly across: () => Ends
  readonly up: () => Ends
}

export function usePlot({ margins, first, across, up }: PlotOptions): ComputedRef<PlotArea> {
  const { width, height } = useBoxSize(useTemplateRef<MaybeElement>('box'), first)
  return computed(() => {
    const box = { width: width.value, height: height.value, margins }
    const right = Math.max(margins.left, box.width - margins.right)
    const floor = box.height - margins.bottom
    return { ...box, ...plotOf(box, across(), up()), right, floor }
  })
}
