/** Position and size of the window, stored in the data folder and restored only on a connected display. */
import * as z from 'zod'
import { readPlain } from '#electron/files/plain-file.ts'
import { writeFileAtomic } from '#electron/files/atomic-file.ts'

const VERSION = 1
const FILE_BYTES = 4096
const LEAST = { width: 960, height: 600 } as const
const USUAL = { width: 1440, height: 900 } as const
/** Part of the window's top edge that must be on a display, so that it can be dragged. */
const GRIP = { width: 160, height: 48 } as const

const px = z.number().int().min(-100_000).max(100_000)
const windowState = z.object({
  version: z.literal(VERSION),
  x: px,
  y: px,
  width: px.positive(),
  height: px.positive(),
  isMaximized: z.boolean(),
  isFullScreen: z.boolean(),
  zoom: z.number().min(0.25).max(5),
})
export type WindowState = Omit<z.infer<typeof windowState>, 'version'>

export interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Bounds of the window to open. Without x and y it is centered on the primary display. */
export interface Place {
  readonly bounds: { readonly x?: number; readonly y?: number; readonly width: number; readonly height: number }
  readonly isMaximized: boolean
  readonly isFullScreen: boolean
  readonly zoom: number
}

/** @returns undefined for a file that is missing, of a newer version, or not valid. */
export function readState(file: string): WindowState | undefined {
  try {
    return windowState.parse(JSON.parse(readPlain(file, FILE_BYTES)))
  } catch {
    return undefined
  }
}

/** Writes the state; a failure is ignored, and the window opens at its default position the next time. */
export function writeState(file: string, state: WindowState): void {
  try {
    writeFileAtomic(file, JSON.stringify({ version: VERSION, ...state }))
  } catch {
    // See above.
  }
}

const overlap = (from: number, length: number, from2: number, length2: number): number =>
  Math.min(from + length, from2 + length2) - Math.max(from, from2)

/** @param areas  work areas of the connected displays, the primary one first. */
export function placeOf(state: WindowState | undefined, areas: readonly Area[]): Place {
  const usual = { isMaximized: false, isFullScreen: false, zoom: 1 }
  const main = areas[0] ?? { x: 0, y: 0, ...USUAL }
  const fitting = ({ width, height }: { width: number; height: number }, within: Area) => ({
    width: Math.min(Math.max(width, LEAST.width), Math.max(within.width, LEAST.width)),
    height: Math.min(Math.max(height, LEAST.height), Math.max(within.height, LEAST.height)),
  })
  if (!state) return { bounds: fitting(USUAL, main), ...usual }
  const { x, y, isMaximized, isFullScreen, zoom } = state
  const shown = areas.find(
    (a) =>
      y >= a.y &&
      overlap(x, state.width, a.x, a.width) >= GRIP.width &&
      overlap(y, GRIP.height, a.y, a.height) >= GRIP.height,
  )
  const size = fitting(state, shown ?? main)
  return { bounds: shown ? { x, y, ...size } : size, isMaximized, isFullScreen, zoom }
}
