/**
 * The whole loop: emulated seconds per second with sampling, control, read-back and history, against the emulator
 * alone.
 */
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { openHost } from '../host/host.ts'
import { demoScenario } from '../files/resources.ts'
import { readScenario } from '../host/scenario-file.ts'
import { jobsFrame } from '../host/views/jobs/jobs.ts'

const SECONDS = 5

async function console_(now: () => number): Promise<number> {
  const host = await openHost({ shell: 'terminal', historyFile: ':memory:', paced: false, epochSeconds: 0 })
  if (!host.ok) throw new Error(host.error.what)
  const { monitor, source } = host.value
  const began = now()
  await source.runTo(SECONDS * NS_PER_S, (atNs) => monitor.tick(atNs))
  const took = (now() - began) / 1000
  await host.value.close()
  return SECONDS / took
}

function emulatorAlone(now: () => number): number {
  const scenario = readScenario(demoScenario())
  if (!scenario.ok) throw new Error(scenario.error.what)
  const cluster = new EmulatedCluster(scenario.value)
  const began = now()
  cluster.sim.runUntil(SECONDS * NS_PER_S)
  return SECONDS / ((now() - began) / 1000)
}

async function frame(now: () => number): Promise<number> {
  const host = await openHost({ shell: 'terminal', historyFile: ':memory:', paced: false, epochSeconds: 0 })
  if (!host.ok) throw new Error(host.error.what)
  const { monitor, source } = host.value
  await source.runTo(SECONDS * NS_PER_S, (atNs) => monitor.tick(atNs))
  const query = {
    at: null,
    windowMs: 60_000,
    target: '',
    sort: 'rpcs',
    descending: true,
    filter: '',
    offset: 0,
    limit: 60,
  } as const
  const began = now()
  for (let i = 1; i <= 20; i++) jobsFrame(monitor, query, i)
  const took = now() - began
  await host.value.close()
  return took / 20
}

export const benches = [
  {
    id: 'console.speed',
    unit: 'x real time',
    run: console_,
    baseline: emulatorAlone,
    must: { least: 1 },
    runs: 5,
    note: 'the demo sampled, controlled and put into the history ten times a second of its clock',
    beside: 'the same emulator without the console',
    limit:
      'each sample is printed by the emulated servers and read back as text, as from real ones, and so is each rule written',
  },
  {
    id: 'console.jobs-frame',
    unit: 'ms',
    run: frame,
    must: { most: 16 },
    runs: 5,
    note: 'one frame of the jobs view of the demo; that it may take what a step of the time cursor may is our own target',
    limit: 'the figures of every job are looked up and sorted; those on screen have their course as well',
  },
] as const
