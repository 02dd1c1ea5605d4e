import { beforeAll, expect, it } from 'vitest'
import type { Size, Values } from '../charts/picture.ts'
import type { Courses } from './courses.ts'

let coursesOf: (series: readonly Values[], size: Size) => Courses
beforeAll(async () => {
  const element = document.createElement('script')
  element.id = 'data'
  element.type = 'application/json'
  element.textContent = JSON.stringify({ t: [0, 1000, 2000, 9000, 10_000], fromMs: 0, toMs: 10_000, stepMs: 1000 })
  document.body.append(element)
  coursesOf = (await import('./courses.ts')).coursesOf
})
const size = { width: 1500, height: 100 }

it('a hole between samples interrupts every line', () => {
  expect(coursesOf([[1, 2, 3, 4, 5]], size)).toEqual({
    t: [0, 1000, 2000, 5500, 9000, 10_000],
    values: [[1, 2, 3, null, 4, 5]],
  })
})

it('a sample between two gaps is a short stroke, unless another part of the stack continues', () => {
  const alone = [null, 2, null, null, 5]
  expect(coursesOf([alone], size)).toMatchObject({
    t: [0, 10, 1000, 1010, 2000, 2010, 5500, 9000, 9010, 10_000, 10_010],
    values: [[null, null, 2, 2, null, null, null, null, null, 5, 5]],
  })
  const courses = coursesOf([alone, [1, 1, 1, 1, 1]], size)
  expect(courses.t).toEqual([0, 1000, 2000, 5500, 9000, 10_000])
  expect(courses.values[0]).toEqual([null, 2, null, null, null, 5])
})
