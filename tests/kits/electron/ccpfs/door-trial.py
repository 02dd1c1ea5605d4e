"""Files of ccPFS through Python: its own calls, those of the C library under it, threads and children."""
import os
import shutil
import subprocess
import sys
import tempfile
import threading

root = sys.argv[1]
path = root + "/f"

with open(path, "w") as f:
    f.write("hello\n" * 1000)
with open(path) as f:
    assert len(f.readlines()) == 1000
with open(path, "rb+") as f:
    f.seek(3)
    f.write(b"XX")
    f.flush()
    os.fsync(f.fileno())
    f.seek(0)
    assert f.read(8) == b"helXX\nhe"
    f.truncate(10)
assert os.stat(path).st_size == 10

shutil.copyfile(path, root + "/g")
os.replace(root + "/g", root + "/h")
assert sorted(os.listdir(root)) == ["f", "h"]
assert [e.name for e in os.scandir(root) if e.is_file()].sort() == ["f", "h"].sort()
with tempfile.NamedTemporaryFile(dir=root) as t:
    t.write(b"x")
    t.flush()
    assert os.stat(t.name).st_size == 1

fd = os.open(path, os.O_RDONLY)
assert subprocess.run(["cat"], stdin=fd, capture_output=True).stdout == b"helXX\nhell"
assert os.lseek(fd, 0, os.SEEK_CUR) == 10
with open(root + "/out", "w") as out:
    subprocess.run("echo x; seq 3", shell=True, stdout=out, check=True)
assert open(root + "/out").read() == "x\n1\n2\n3\n"

big = os.urandom(5 << 20)
open(root + "/big", "wb").write(big)
assert open(root + "/big", "rb").read() == big


def fill(i):
    own = os.open(root + "/threads", os.O_CREAT | os.O_RDWR)
    for k in range(100):
        os.pwrite(own, bytes([i]) * 1000, (k * 8 + i) * 1000)
    for k in range(100):
        assert os.pread(own, 1000, (k * 8 + i) * 1000) == bytes([i]) * 1000
    os.close(own)


threads = [threading.Thread(target=fill, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert os.stat(root + "/threads").st_size == 800000
print("done")
