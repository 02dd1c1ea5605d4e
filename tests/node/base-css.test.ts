import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const css = readFileSync(join(import.meta.dirname, '../../renderer/theme/base.css'), 'utf8')
const ruleOf = (selector: string): string => {
  const from = css.indexOf(`\n${selector} {`)
  return css.slice(from, css.indexOf('}', from))
}

it('the time strip cannot be scrolled out of its box by the focus on an event', () => {
  // An element with hidden overflow still scrolls when something in it takes the focus.
  expect(ruleOf('.ts-mid')).toContain('overflow: clip')
  expect(ruleOf('.ts-mid')).not.toContain('overflow: hidden')
})
