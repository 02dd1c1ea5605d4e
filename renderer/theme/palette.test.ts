import { afterEach, expect, it } from 'vitest'
import { inkToken, inkVar, palette, refreshPalette } from './palette.ts'

const root = document.documentElement
afterEach(() => root.removeAttribute('style'))

it('names fourteen colors, and gray for anything else', () => {
  expect(Array.from({ length: 15 }, (_, i) => inkToken(i))).toEqual([
    'ink-other',
    ...Array.from({ length: 14 }, (_, i) => `ink-${i + 1}`),
  ])
  expect(inkToken(15)).toBe('ink-other')
  expect(inkVar(8)).toBe('var(--ink-8)')
})

it('mixes the second shades for canvas from the inks and the text color of the theme', () => {
  root.style.setProperty('--ink-1', '#006aaf')
  root.style.setProperty('--text-1', '#131a20')
  refreshPalette()
  expect(palette.value[inkToken(1)]).toBe('#006aaf')
  expect(palette.value[inkToken(8)]).toBe('#09466f')
})

it('keeps the ink where the text color is not known', () => {
  root.style.setProperty('--ink-2', '#b87f00')
  root.style.setProperty('--text-1', 'CanvasText')
  refreshPalette()
  expect(palette.value[inkToken(9)]).toBe('#b87f00')
})
