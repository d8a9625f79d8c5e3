"""What setup.cfg can't say: all packages are found, and the tables of data/ go with benchquery."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["benchquery*", "benchbuild*"]), "benchquery.data"],
    package_dir={"benchquery.data": "data"},
)
