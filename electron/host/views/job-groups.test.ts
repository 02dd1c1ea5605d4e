import { expect, it } from 'vitest'
import { programOf } from './job-groups.ts'

it('finds what runs in the usual forms of a job id', () => {
  expect(['4690.python.u1021', 'train.py.1021', 'python', '4711', 'login03.rsync.u0'].map(programOf)).toEqual([
    ...['python', 'train.py', 'python', '4711', 'login03.rsync'],
  ])
})
