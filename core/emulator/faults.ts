/** Applies the `faults` of a scenario to its disks, servers and network. */
import { sToNs } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
import type { ScenarioFault } from './scenario-faults.ts'

/** A device or a port that can be slowed down. */
interface Station {
  setSlowness(times: number): void
}

/** Components that faults act on. */
export interface FaultSite {
  /** Devices by target. */
  readonly device: (target: string) => Station | undefined
  /** Both ports of each listed client, by number from 1; of all clients without a list. */
  readonly ports: (clients: readonly number[] | undefined) => readonly Station[]
  /** Makes a server stop or resume answering shells. */
  readonly setSilent: (server: string, isSilent: boolean) => void
}

/** Schedules all faults in the simulation. */
export function playFaults(sim: Simulation, faults: readonly ScenarioFault[], site: FaultSite): void {
  const slow = new Map<Station, number[]>()
  const silences = new Map<string, number>()
  const change = (station: Station, factor: number, isOn: boolean): void => {
    const now = slow.get(station) ?? []
    if (isOn) now.push(factor)
    else now.splice(now.indexOf(factor), 1)
    slow.set(station, now)
    station.setSlowness(now.reduce((a, b) => a * b, 1))
  }
  const apply = (f: ScenarioFault, isOn: boolean): void => {
    if (f.what === 'server-silent') {
      const n = (silences.get(f.server) ?? 0) + (isOn ? 1 : -1)
      silences.set(f.server, n)
      site.setSilent(f.server, n > 0)
      return
    }
    const stations = f.what === 'slow-network' ? site.ports(f.clients) : [site.device(f.target)]
    const factor = f.what === 'disk-stops' ? Infinity : f.factor
    for (const s of stations) if (s) change(s, factor, isOn)
  }
  for (const f of faults) {
    sim.at(sToNs(f.at_s), () => apply(f, true))
    if (f.for_s !== undefined) sim.at(sToNs(f.at_s + f.for_s), () => apply(f, false))
  }
}
