/** Parts of a picture that depend on its size, for tests: what is drawn on a canvas is not in the DOM. */
import { plotArea, type Picture, type Placed, type Size, type Text } from '#renderer/charts/picture.ts'

const SIZE: Size = { width: 600, height: 240 }

export const placedOf = (picture: Picture, size: Size = SIZE): Placed => picture.placed?.(plotArea(picture, size)) ?? {}
export const textsOf = (picture: Picture, size: Size = SIZE): Text[] => [
  ...(picture.texts ?? []),
  ...(placedOf(picture, size).texts ?? []),
]
export const wordsOf = (picture: Picture, size: Size = SIZE): string[] => textsOf(picture, size).map(({ text }) => text)
