import { benches } from './incidents/bundle.bench.ts'
const now = () => performance.now()
for (const b of benches) {
  const c0 = process.cpuUsage()
  const v = [await b.run(now), await b.run(now)]
  const c = process.cpuUsage(c0)
  console.log(b.id, v.map((x) => x.toFixed(2)), b.unit, 'cpu s/run', ((c.user + c.system) / 2e6).toFixed(2))
}
process.exit(0)
