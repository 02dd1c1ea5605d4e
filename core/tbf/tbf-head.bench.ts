/** Enqueue plus dequeue through one TBF head with many classes, beside a plain queue. */
import { TbfHead } from './tbf-head.ts'

const RPCS = 200_000

interface Request {
  readonly jobId: string
  readonly nid: string
}

const requests = (classes: number): Request[] =>
  Array.from({ length: classes }, (_, i) => ({ jobId: `job.${i}`, nid: '10.0.0.1@tcp' }))

function through(classes: number, now: () => number): number {
  const head = new TbfHead<Request>(['jobid'], { rate: 999_999, depth: 3 })
  const all = requests(classes)
  let time = 0
  const pass = (n: number): void => {
    for (let i = 0; i < n; i++) {
      head.enqueue(time, all[i % classes] as Request)
      time += 1_000_000
      if (head.dequeue(time) === undefined) throw new Error('a class at rate 999999 has a token after 1 ms')
    }
  }
  pass(classes)
  const began = now()
  pass(RPCS)
  return (RPCS / (now() - began)) * 1000
}

function plainQueue(now: () => number): number {
  const all = requests(10_000)
  const queue: Request[] = []
  let at = 0
  const began = now()
  for (let i = 0; i < RPCS; i++) {
    queue.push(all[i % 10_000] as Request)
    if (queue[at++] === undefined) throw new Error('what was pushed can be taken')
  }
  return (RPCS / (now() - began)) * 1000
}

export const benches = [
  { id: 'tbf.rpc.100-classes', unit: 'RPC/s', run: (now: () => number) => through(100, now) },
  {
    id: 'tbf.rpc.10000-classes',
    unit: 'RPC/s',
    run: (now: () => number) => through(10_000, now),
    baseline: plainQueue,
  },
] as const
