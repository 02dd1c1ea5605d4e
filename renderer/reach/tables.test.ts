import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { plainFigure, targetRow, rowText, rowsOf, sortByKey, stepRow, targetTable } from './tables.ts'

beforeEach(() => {
  const page = new DOMParser().parseFromString(
    `
    <div class="view">
      <div role="table" id="side" tabindex="0"><div role="row"><span role="cell">x</span></div></div>
      <div role="table" id="main" aria-label="Jobs" data-main-table tabindex="0">
        <div role="row" class="head">
          <span role="columnheader">Job</span><span role="columnheader"><button data-sort-key="r">Read</button></span>
        </div>
        <div role="row" id="a"><span role="cell">4690</span><span role="cell">\u22121\u202F234<i aria-hidden="true">icon</i></span></div>
        <div role="row" id="b" aria-selected="true"><span role="cell">4711</span><span role="cell">5</span></div>
        <div role="row" class="foot"><span role="cell">2 shown</span><span role="cell">9</span></div>
      </div>
    </div>`,
    'text/html',
  )
  document.body.append(...page.body.children)
})
afterEach(() => document.body.replaceChildren())
const get = (id: string): HTMLElement => document.getElementById(id) as HTMLElement

describe('the table that keys act on', () => {
  it('is the main one of the view, unless the focus is in another', () => {
    expect(targetTable()).toBe(get('main'))
    get('side').focus()
    expect(targetTable()).toBe(get('side'))
  })
})

it('excludes header and footer rows', () => {
  expect(rowsOf(get('main')).map((row) => row.id)).toEqual(['a', 'b'])
})

it('targets the selected row', () => {
  expect(targetRow(get('main'))).toBe(get('b'))
})

it('copies a row with headers, as numbers that a spreadsheet can read', () => {
  expect(rowText(get('main'), get('a'))).toBe('Job\tRead\n4690\t-1234\n')
  expect(plainFigure('  1\u2009000\n MB/s ')).toBe('1000 MB/s')
})

it('sorts by the letter of a header, and reports a missing one', () => {
  const press = vi.fn()
  get('main').querySelector('button')?.addEventListener('click', press)
  expect([sortByKey(get('main'), 'r'), sortByKey(get('main'), 'w')]).toEqual([true, false])
  expect(press).toHaveBeenCalledOnce()
})

it('steps through rows, and stays at the ends', () => {
  const pressed: string[] = []
  get('main').addEventListener('click', (event) => pressed.push((event.target as HTMLElement).id))
  get('b').removeAttribute('aria-selected')
  for (const by of [1, 1, 1, -1] as const) stepRow(get('main'), by)
  expect(pressed).toEqual(['a', 'b', 'b', 'a'])
  expect(targetRow(get('main'))).toBe(get('a'))
})
