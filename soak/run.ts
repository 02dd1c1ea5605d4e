/**
 * Entry point of the soak: reads the options, runs it, prints the report (with --json the record), exits 1 if a criterion
 * failed.
 */
import { parseArgs } from 'node:util'
import { isPassed, judge, reportText } from './judge.ts'
import { soak } from './soak.ts'

const USAGE = `Usage: npm run soak -- [options]

  --minutes M   real minutes of the run (12)
  --speed X     emulated seconds a real second (10)
  --seconds S   emulated seconds, instead of minutes and speed: as fast as it goes
  --jobs N      jobs that start in an emulated hour; each lives for an eighth of the run (1000)
  --rate R      RPC/s of a job (2)
  --period MS   sampling and control period (1000)
  --seed S      (1)
  --json        print the record and the verdicts as JSON
`
/** Maximum time that the process may live on after everything was closed, ms. */
const LINGER_MS = 5_000

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '12' },
    speed: { type: 'string', default: '10' },
    seconds: { type: 'string' },
    jobs: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '2' },
    period: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

function number(name: 'minutes' | 'speed' | 'seconds' | 'jobs' | 'rate' | 'period' | 'seed', least: number): number {
  const n = Number(values[name])
  if (n >= least && Number.isFinite(n)) return n
  process.stderr.write(`soak: --${name} takes a number of at least ${least}\n\n${USAGE}`)
  process.exit(2)
}

if (values.help) process.stdout.write(USAGE)
else {
  const isPaced = values.seconds === undefined
  const speed = isPaced ? number('speed', 0.1) : null
  const seconds = Math.round(speed === null ? number('seconds', 60) : number('minutes', 0.1) * 60 * speed)
  const say = (line: string): void => void (values.json ? undefined : process.stdout.write(`${line}\n`))
  const record = await soak({
    seconds,
    speed,
    jobs: number('jobs', 16),
    rate: number('rate', 0.01),
    periodMs: number('period', 100),
    seed: number('seed', 0),
    // A run of two hours exceeds the product's own retention times; a shorter run uses shorter ones, so that data expires at
    // all.
    ...(seconds >= 7_200
      ? { forgetS: 3_600, recentS: 600 }
      : { forgetS: Math.round(seconds / 5), recentS: Math.round(seconds / 10) }),
    say,
  })
  const verdicts = judge(record)
  process.stdout.write(
    values.json ? `${JSON.stringify({ record, verdicts }, null, 1)}\n` : `\n${reportText(record, verdicts)}`,
  )
  process.exitCode = isPassed(verdicts) ? 0 : 1
  setTimeout(() => {
    process.stderr.write(`soak: the process does not end by itself: ${process.getActiveResourcesInfo().join(', ')}\n`)
    process.exit(1)
  }, LINGER_MS).unref()
}
