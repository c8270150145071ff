#!/usr/bin/python3
"""image.py CONTAINERFILE BASE CONTEXT FOLDER: makes the image of a Containerfile without an engine.

BASE is the tree that each FROM begins with, whatever it names; CONTEXT the folder of COPY; the last
stage ends up in FOLDER/root, and its settings in FOLDER/settings, a line `NAME WORDS` each. Only
root can do that. It knows what our Containerfile has, and refuses the rest."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

containerfile, base, context, folder = sys.argv[1:]
stages, settings, root, work = {}, {}, None, '/'


def sh(*words, **more):
    subprocess.run(words, check=True, **more)


def lines():
    text = ''.join(line for line in open(containerfile, encoding='utf-8') if not line.startswith('#'))
    for line in text.replace('\\\n', '').splitlines():
        if line.strip():
            yield re.match(r'(\w+)\s+(.*)', line).groups()


def run(command):
    mounts = [os.path.join(root, 'proc'), os.path.join(root, 'dev')]
    sh('mount', '-t', 'proc', 'proc', mounts[0])
    sh('mount', '--rbind', '/dev', mounts[1])
    try:
        sh('chroot', root, '/bin/sh', '-c', f'cd {work} && {command}', stdin=subprocess.DEVNULL)
    finally:
        sh('umount', '-R', *mounts)


def copy(words):
    source, target = words[-2:]
    options = [word for word in words[:-2] if word.startswith('--from=')]
    where = stages[options[0][7:]] if options else context
    target = os.path.join(root, target.lstrip('/'))
    os.makedirs(target, exist_ok=True)
    sh('cp', '-a', '--no-preserve=ownership', os.path.join(where, source.lstrip('/'), '.'), target)


for name, rest in lines():
    if name == 'FROM':
        root, work, settings = os.path.join(folder, f'stage{len(stages)}'), '/', {}
        sh('cp', '-a', base, root)
        shutil.copy('/etc/resolv.conf', os.path.join(root, 'etc/resolv.conf'))
        stages[rest.split(' AS ')[-1]] = root
    elif name == 'RUN':
        run(rest)
    elif name == 'COPY':
        copy(shlex.split(rest))
    elif name == 'WORKDIR':
        work = rest
    elif name in ('USER', 'VOLUME', 'STOPSIGNAL'):
        settings[name] = rest
    elif name == 'ENTRYPOINT':
        settings[name] = ' '.join(json.loads(rest))
    elif name == 'HEALTHCHECK':
        settings[name] = ' '.join(json.loads(rest[rest.index('CMD') + 3:]))
    else:
        sys.exit(f'image.py: {name}: unknown')
os.rename(root, os.path.join(folder, 'root'))
with open(os.path.join(folder, 'settings'), 'w', encoding='utf-8') as out:
    out.writelines(f'{name} {words}\n' for name, words in settings.items())
